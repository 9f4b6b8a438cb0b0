-- Neovim 0.7 or newer, in init.lua:  dofile('/path/to/editors/neovim/isoscope.lua')
for extension, filetype in pairs({ tx = 'isoscope', spec = 'isoscope-spec' }) do
	vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
		pattern = '*.' .. extension,
		callback = function(event) vim.bo[event.buf].filetype = filetype end,
	})
end

local clients = {} -- of Neovim 0.7, by folder

-- What vim.lsp.start does since 0.8: one server for the files of a folder.
local function start(config)
	local folder = config.root_dir
	clients[folder] = clients[folder] or vim.lsp.start_client(
		vim.tbl_extend('force', config, {
			on_exit = function() clients[folder] = nil end,
		}))
	vim.lsp.buf_attach_client(0, clients[folder])
end

vim.api.nvim_create_autocmd('FileType', {
	pattern = { 'isoscope', 'isoscope-spec' },
	callback = function(event)
		vim.bo[event.buf].commentstring =
			event.match == 'isoscope' and '// %s' or '# %s';
		(vim.lsp.start or start)({
			name = 'isoscope',
			cmd = { 'isoscope', 'lsp' },
			root_dir = vim.fn.fnamemodify(
				vim.api.nvim_buf_get_name(event.buf), ':p:h'),
			-- the level that the database provides; without it the one
			-- that the program states
			init_options = { level = vim.g.isoscope_level },
		})
	end,
})
