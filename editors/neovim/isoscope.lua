-- Neovim 0.8 or newer, in init.lua:  dofile('/path/to/editors/neovim/isoscope.lua')
vim.filetype.add({ extension = { tx = 'isoscope', spec = 'isoscope-spec' } })

vim.api.nvim_create_autocmd('FileType', {
	pattern = { 'isoscope', 'isoscope-spec' },
	callback = function(event)
		vim.bo[event.buf].commentstring =
			event.match == 'isoscope' and '// %s' or '# %s'
		vim.lsp.start({
			name = 'isoscope',
			cmd = { 'isoscope', 'lsp' },
			root_dir = vim.fs.dirname(event.file),
			-- the level that the database provides; without it the one
			-- that the program states
			init_options = { level = vim.g.isoscope_level },
		})
	end,
})
