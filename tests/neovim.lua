-- What editors/neovim/isoscope.lua gives in Neovim, printed for tests/lsp.sh,
-- which runs it in a folder with on-call.tx and one.spec.
dofile(vim.env.SETTINGS)

local function show(...) io.stdout:write(string.format(...), '\n') end

local function wait_for(what, ready)
	if not vim.wait(120000, ready, 20) then
		show('no %s within two minutes', what)
		vim.cmd('cquit')
	end
end

local function ask(method, params)
	for _, answer in pairs(
		vim.lsp.buf_request_sync(0, method, params, 120000) or {}) do
		return answer.result
	end
end

local function at(line, character)
	local params = vim.lsp.util.make_position_params()
	params.position = { line = line - 1, character = character }
	return params
end

vim.cmd('edit on-call.tx')
show('type %s', vim.bo.filetype)
show('comments %s', vim.bo.commentstring)
wait_for('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
for _, found in ipairs(vim.diagnostic.get(0)) do
	show('line %d: %s', found.lnum + 1, found.message)
end

local header = vim.fn.search('^txn go_home')
show('hover %s', ask('textDocument/hover', at(header, 6)).contents.value)

local params = at(vim.diagnostic.get(0)[1].lnum + 1, 0)
params.range = { start = params.position, ['end'] = params.position }
params.context = { diagnostics = {} }
local actions -- found after the violations
wait_for('repairs', function()
	actions = ask('textDocument/codeAction', params)
	return #actions > 0
end)
for _, action in ipairs(actions) do show('action %s', action.title) end

vim.fn.setline(header, 'txn   go_home( me,other )  {')
vim.lsp.util.apply_text_edits(ask('textDocument/formatting', {
	textDocument = vim.lsp.util.make_text_document_params(),
	options = { tabSize = 8, insertSpaces = false },
}), 0, 'utf-16')
show('formatted %s', vim.fn.getline(header))

vim.cmd('edit! one.spec')
show('type %s', vim.bo.filetype)
wait_for('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
show('line %d: %s', vim.diagnostic.get(0)[1].lnum + 1,
	vim.diagnostic.get(0)[1].message)
local servers = {}
for _, client in ipairs(vim.lsp.get_active_clients()) do
	table.insert(servers, client.name)
end
show('servers %s', table.concat(servers, ' '))
vim.cmd('qall!')
