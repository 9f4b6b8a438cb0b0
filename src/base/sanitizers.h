/* Which sanitizer watches this build: 1 or 0. gcc tells by macros, clang by
 * features.
 */
#ifndef ISO_BASE_SANITIZERS_H
#define ISO_BASE_SANITIZERS_H

#ifdef __has_feature
#define ADDRESS_SANITIZER __has_feature(address_sanitizer)
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#ifdef __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER 1
#else
#define ADDRESS_SANITIZER 0
#endif
#ifdef __SANITIZE_THREAD__
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif
#endif

#endif
