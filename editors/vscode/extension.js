/* Starts isoscope lsp for programs in .tx and .spec. */
'use strict';
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
	const settings = workspace.getConfiguration('isoscope');
	client = new LanguageClient('isoscope', 'isoscope',
		{ command: settings.get('path'), args: ['lsp'] },
		{
			documentSelector: [{ language: 'isoscope' },
				{ language: 'isoscope-spec' }],
			initializationOptions: { level: settings.get('level') },
			synchronize: { configurationSection: 'isoscope' },
		});
	return client.start();
};

exports.deactivate = () => client && client.stop();
