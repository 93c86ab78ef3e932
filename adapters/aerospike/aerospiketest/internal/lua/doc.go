// Package lua runs modules of functions in Lua, on gopher-lua.
//
// The interpreter is one of Lua 5.1, which knows only floats; a real server has Lua
// 5.4, with integers. So a module is rewritten before it is compiled: arithmetic,
// comparisons, concatenation and indexing become calls of functions here, which
// know both. In the interpreter a number with a fraction is a float, one without is
// an integer, and the few values for which that isn't so are boxed; see number.go.
//
// A call has a state of its own, so no call sees what another left behind. It is
// bounded in instructions and time, and in the bytes of strings and collections
// that it makes; see [budget]. There is no way from it to files, processes or the
// network.
package lua
