package lua

import (
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// maxNesting bounds how deep a module's statements and expressions are nested.
const maxNesting = 400

// A rewriter replaces operators by calls. See the package's documentation.
type rewriter struct {
	depth int
	line  int  // where it was last, for the error
	deep  bool // nested too deep: the module is refused
}

func (r *rewriter) enter(line int) bool {
	r.depth++
	if line > 0 {
		r.line = line
	}
	if r.depth > maxNesting {
		r.deep = true
	}
	return !r.deep
}

func (r *rewriter) block(l []ast.Stmt) {
	for i := range l {
		if r.enter(l[i].Line()) {
			l[i] = r.stmt(l[i])
		}
		r.depth--
	}
}

// stmt rewrites what is in a statement, or replaces it.
func (r *rewriter) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return r.assign(s)
	case *ast.LocalAssignStmt:
		r.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = r.expr(s.Expr)
	case *ast.DoBlockStmt:
		r.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.IfStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Then)
		r.block(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit = r.bound(s.Init), r.bound(s.Limit)
		if s.Step != nil {
			s.Step = r.bound(s.Step)
		}
		r.block(s.Stmts)
	case *ast.GenericForStmt:
		r.exprs(s.Exprs)
		r.block(s.Stmts)
	case *ast.FuncDefStmt:
		r.expr(s.Func)
	case *ast.ReturnStmt:
		r.exprs(s.Exprs)
	}
	return s
}

// assign rewrites an assignment. One to a single element, whose key isn't a plain
// name, becomes a call.
func (r *rewriter) assign(s *ast.AssignStmt) ast.Stmt {
	r.exprs(s.Rhs)
	for _, l := range s.Lhs {
		if a, ok := l.(*ast.AttrGetExpr); ok {
			a.Object, a.Key = r.expr(a.Object), r.expr(a.Key)
		}
	}
	if len(s.Lhs) > 1 || len(s.Rhs) > 1 {
		return several(s)
	}
	if a, ok := s.Lhs[0].(*ast.AttrGetExpr); ok && !isString(a.Key) {
		return element(s, a.Object, a.Key, one(s.Rhs[0]))
	}
	return s
}

// several rewrites an assignment of several values to one by one, after all were
// evaluated: the interpreter mixes them up when a local variable is on both sides.
func several(s *ast.AssignStmt) ast.Stmt {
	block := &ast.DoBlockStmt{}
	block.SetLine(s.Line())
	local := func(prefix string, exprs []ast.Expr, n int) []ast.Expr {
		l := &ast.LocalAssignStmt{Exprs: exprs}
		l.SetLine(s.Line())
		var idents []ast.Expr
		for i := range n {
			id := &ast.IdentExpr{Value: prefix + strconv.Itoa(i)}
			id.SetLine(s.Line())
			l.Names, idents = append(l.Names, id.Value), append(idents, id)
		}
		block.Stmts = append(block.Stmts, l)
		return idents
	}
	var parts []ast.Expr
	for _, l := range s.Lhs {
		if a, ok := l.(*ast.AttrGetExpr); ok {
			parts = append(parts, a.Object, a.Key)
		}
	}
	if len(parts) > 0 {
		parts = local("\x00part", parts, len(parts))
	}
	values := local("\x00value", s.Rhs, len(s.Lhs))
	for i, l := range s.Lhs {
		if _, ok := l.(*ast.AttrGetExpr); ok {
			block.Stmts = append(block.Stmts, element(s, parts[0], parts[1], values[i]))
			parts = parts[2:]
			continue
		}
		a := &ast.AssignStmt{Lhs: []ast.Expr{l}, Rhs: []ast.Expr{values[i]}}
		a.SetLine(s.Line())
		block.Stmts = append(block.Stmts, a)
	}
	return block
}

// element is the assignment to an element, as a call.
func element(at ast.Stmt, object, key, value ast.Expr) ast.Stmt {
	stmt := &ast.FuncCallStmt{Expr: call(at, fnNewIndex, object, key, value)}
	stmt.SetLine(at.Line())
	return stmt
}

// one is an expression that gives a single value, as it does in an assignment.
func one(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
	return e
}

// bound rewrites a bound of a numeric loop, which must be no box.
func (r *rewriter) bound(e ast.Expr) ast.Expr { return call(e, fnBound, r.expr(e)) }

func (r *rewriter) exprs(l []ast.Expr) {
	for i := range l {
		l[i] = r.expr(l[i])
	}
}

func (r *rewriter) expr(e ast.Expr) ast.Expr {
	defer func() { r.depth-- }()
	if !r.enter(e.Line()) {
		return e
	}
	switch e := e.(type) {
	case *ast.NumberExpr:
		return literal(e)
	case *ast.AttrGetExpr:
		e.Object = r.expr(e.Object)
		if isString(e.Key) {
			return e
		}
		return call(e, fnIndex, e.Object, r.expr(e.Key))
	case *ast.TableExpr:
		r.table(e)
	case *ast.FuncCallExpr:
		if e.Func != nil {
			e.Func = r.expr(e.Func)
		}
		if e.Receiver != nil {
			e.Receiver = r.expr(e.Receiver)
		}
		r.exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.UnaryNotOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.FunctionExpr:
		r.block(e.Stmts)
	case *ast.RelationalOpExpr:
		return r.relation(e)
	case *ast.StringConcatOpExpr:
		return call(e, fnConcat, r.expr(e.Lhs), r.expr(e.Rhs))
	case *ast.UnaryMinusOpExpr:
		return call(e, fnNeg, r.expr(e.Expr))
	case *ast.ArithmeticOpExpr:
		return call(e, arithmetic(e.Operator), r.expr(e.Lhs), r.expr(e.Rhs))
	}
	return e
}

func (r *rewriter) table(e *ast.TableExpr) {
	for _, f := range e.Fields {
		if f.Key != nil && !isString(f.Key) {
			f.Key = call(e, fnKey, r.expr(f.Key))
		}
		f.Value = r.expr(f.Value)
	}
}

func (r *rewriter) relation(e *ast.RelationalOpExpr) ast.Expr {
	a, b := r.expr(e.Lhs), r.expr(e.Rhs)
	switch e.Operator {
	case "<":
		return call(e, fnLess, a, b)
	case ">":
		return call(e, fnLess, b, a)
	case "<=":
		return call(e, fnAtMost, a, b)
	case ">=":
		return call(e, fnAtMost, b, a)
	}
	e.Lhs, e.Rhs = a, b
	if isConstant(a) || isConstant(b) {
		return e
	}
	eq := call(e, fnEqual, a, b)
	if e.Operator == "==" {
		return eq
	}
	n := &ast.UnaryNotOpExpr{Expr: eq}
	n.SetLine(e.Line())
	return n
}

func arithmetic(op string) string {
	switch op {
	case "+":
		return fnAdd
	case "-":
		return fnSub
	case "*":
		return fnMul
	case "/":
		return fnDiv
	case "%":
		return fnMod
	}
	return fnPow
}

// literal keeps a number that the interpreter takes for what it is.
func literal(e *ast.NumberExpr) ast.Expr {
	n, ok := parseNumber(e.Value)
	if !ok || n.int && n.i >= -exact && n.i <= exact || !n.int && !inline(n.f).int {
		return e
	}
	s := &ast.StringExpr{Value: strings.Clone(e.Value)}
	s.SetLine(e.Line())
	return call(e, fnLiteral, s)
}

// isConstant reports whether a value is equal to the same in the interpreter as
// everywhere.
func isConstant(e ast.Expr) bool {
	switch e.(type) {
	case *ast.NilExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.StringExpr:
		return true
	}
	return false
}

func isString(e ast.Expr) bool {
	_, ok := e.(*ast.StringExpr)
	return ok
}

// call returns a call in the place of something. It gives one value.
func call(at ast.PositionHolder, name string, args ...ast.Expr) *ast.FuncCallExpr {
	f := &ast.IdentExpr{Value: name}
	f.SetLine(at.Line())
	for i := range args {
		if i == len(args)-1 {
			args[i] = one(args[i])
		}
	}
	c := &ast.FuncCallExpr{Func: f, Args: args, AdjustRet: true}
	c.SetLine(at.Line())
	c.SetLastLine(at.LastLine())
	return c
}
