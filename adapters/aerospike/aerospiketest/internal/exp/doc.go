// Package exp compiles and evaluates expressions: the filters of commands and
// the expressions of the operations EXP_READ and EXP_MODIFY.
//
// An expression is a MessagePack list of a code and arguments, or a literal.
// [Compiler.Compile] checks it as a whole, types included, and makes a tree of
// it; [Expr.Match] and [Expr.Value] evaluate the tree for a [Record]. What is not
// known (a bin that is missing or of another type, a division by zero, a call
// that fails) is unknown, and logic has three values. Types are static, so what
// is known is always of the type that was compiled.
//
// Expressions come from outside: depth, number of nodes and the work of calls are
// bounded.
package exp
