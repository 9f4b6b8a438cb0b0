# same_picture KEPT NOW: are two pictures that Graphviz drew the same? If
# different versions of it drew them, their words are compared. Sourced.
# shellcheck shell=sh

picture_graphviz() {
	sed -n 's/.*enerated by graphviz version \(.*\)/\1/p' "$1"
}

picture_words() {
	sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "$1" | sort
}

same_picture() {
	if [ "$(picture_graphviz "$1")" = "$(picture_graphviz "$2")" ]; then
		cmp "$1" "$2"
	elif [ "$(picture_words "$1")" != "$(picture_words "$2")" ]; then
		echo "$1 and $2 say different things" >&2
		return 1
	fi
}
