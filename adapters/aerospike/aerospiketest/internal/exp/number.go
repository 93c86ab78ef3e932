package exp

import (
	"math"
	"math/bits"
)

// number evaluates arithmetic. An unknown argument makes it unknown.
func (e *evaluation) number(x *node) value {
	a := e.eval(x.args[0])
	if a.t == unknown {
		return a
	}
	if len(x.args) == 1 {
		return unary(x.op, a)
	}
	if x.op == opDiv {
		return e.divide(x, a)
	}
	for _, arg := range x.args[1:] {
		b := e.eval(arg)
		switch {
		case b.t == unknown:
			return b
		case a.t == Float:
			a.f = onFloats(x.op, a.f, b.f)
		case x.op == opMod:
			if b.n == 0 {
				return value{t: unknown}
			}
			a.n %= b.n
		default:
			a.n = onIntegers(x.op, a.n, b.n)
		}
	}
	return a
}

// divide divides by the product of the other arguments.
func (e *evaluation) divide(x *node, a value) value {
	by := value{t: a.t, n: 1, f: 1}
	for _, arg := range x.args[1:] {
		b := e.eval(arg)
		if b.t == unknown {
			return b
		}
		by.n *= b.n
		by.f *= b.f
	}
	return quotient(a, by)
}

func quotient(a, b value) value {
	switch {
	case a.t == Float:
		return float(a.f / b.f)
	case b.n == 0:
		return value{t: unknown}
	}
	return integer(a.n / b.n)
}

func unary(op uint8, a value) value {
	switch op {
	case opSub:
		return value{t: a.t, n: -a.n, f: 0 - a.f}
	case opDiv:
		return quotient(value{t: a.t, n: 1, f: 1}, a)
	case opAbs:
		if a.n < 0 {
			a.n = -a.n
		}
		a.f = math.Abs(a.f)
	case opFloor:
		a.f = math.Floor(a.f)
	case opCeil:
		a.f = math.Ceil(a.f)
	case opToInt:
		return integer(truncate(a.f))
	case opToFloat:
		return float(float64(a.n))
	case opIntNot:
		a.n = ^a.n
	case opIntCount:
		a.n = int64(bits.OnesCount64(uint64(a.n)))
	}
	return a
}

// truncate is what a processor makes of a float that no integer can hold.
func truncate(f float64) int64 {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

func onFloats(op uint8, a, b float64) float64 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opPow:
		return math.Pow(a, b)
	case opLog:
		return math.Log(a) / math.Log(b)
	case opMin:
		if b < a {
			return b
		}
	case opMax:
		if b > a {
			return b
		}
	}
	return a
}

func onIntegers(op uint8, a, b int64) int64 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opMin:
		return min(a, b)
	case opMax:
		return max(a, b)
	case opIntAnd:
		return a & b
	case opIntOr:
		return a | b
	case opIntXor:
		return a ^ b
	case opIntLShift: // shifts take their count modulo 64
		return a << (b & 63)
	case opIntRShift:
		return int64(uint64(a) >> (b & 63))
	case opIntARShift:
		return a >> (b & 63)
	case opIntLScan, opIntRScan:
		return scanBits(op, uint64(a), b != 0)
	}
	return a
}

// scanBits looks for the first or last bit of a value, counted from the left.
func scanBits(op uint8, v uint64, set bool) int64 {
	if !set {
		v = ^v
	}
	switch {
	case v == 0:
		return -1
	case op == opIntLScan:
		return int64(bits.LeadingZeros64(v))
	}
	return int64(63 - bits.TrailingZeros64(v))
}
