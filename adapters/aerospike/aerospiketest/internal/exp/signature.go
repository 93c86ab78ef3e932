package exp

// A signature is what arguments an expression takes.
type signature struct {
	least, most int // how many; most is -1 for any number
	check       func(x *node) bool
}

// signatureOf returns the signature of an expression whose arguments are
// expressions, all of them.
func signatureOf(op uint8) (signature, bool) {
	switch op {
	case opUnknown, opKeyExists, opIsTombstone:
		return signature{0, 0, gives(Bool)}, true
	case opDeviceSize, opLastUpdate, opSinceUpdate, opVoidTime, opTTL, opMemorySize, opRecordSize:
		return signature{0, 0, gives(Int)}, true
	case opSetName:
		return signature{0, 0, gives(String)}, true
	case opEQ, opNE, opGT, opGE, opLT, opLE:
		return signature{2, 2, comparison}, true
	case opGeo:
		return signature{2, 2, takes(Bool, Geo)}, true
	case opAnd, opOr, opExclusive:
		return signature{2, -1, takes(Bool, Bool)}, true
	case opNot:
		return signature{1, 1, takes(Bool, Bool)}, true
	case opAdd, opSub, opMul, opDiv, opMin, opMax:
		return signature{1, -1, numbers}, true
	case opAbs:
		return signature{1, 1, numbers}, true
	case opPow, opLog:
		return signature{2, 2, takes(Float, Float)}, true
	case opFloor, opCeil:
		return signature{1, 1, takes(Float, Float)}, true
	case opToInt:
		return signature{1, 1, takes(Int, Float)}, true
	case opToFloat:
		return signature{1, 1, takes(Float, Int)}, true
	case opIntAnd, opIntOr, opIntXor:
		return signature{1, -1, takes(Int, Int)}, true
	case opMod, opIntLShift, opIntRShift, opIntARShift:
		return signature{2, 2, takes(Int, Int)}, true
	case opIntNot, opIntCount:
		return signature{1, 1, takes(Int, Int)}, true
	case opIntLScan, opIntRScan:
		return signature{2, 2, scan}, true
	case opCond:
		return signature{3, -1, cond}, true
	}
	return signature{}, false
}

// gives is for an expression without arguments.
func gives(t Type) func(x *node) bool { return takes(t, t) }

// takes is for arguments of one type.
func takes(result, arg Type) func(x *node) bool {
	return func(x *node) bool {
		x.t = result
		for _, a := range x.args {
			if a.t != arg {
				return false
			}
		}
		return true
	}
}

// numbers is for integers or floats, which give the same.
func numbers(x *node) bool {
	t := x.args[0].t
	return (t == Int || t == Float) && takes(t, t)(x)
}

// comparison is for two of a type that has an order.
func comparison(x *node) bool {
	t := x.args[0].t
	return t != Geo && t != HLL && takes(Bool, t)(x)
}

func scan(x *node) bool {
	x.t = Int
	return x.args[0].t == Int && x.args[1].t == Bool
}

// cond is for pairs of a condition and a value, and a last value. Values have
// one type, but for those that are unknown.
func cond(x *node) bool {
	if len(x.args)%2 == 0 {
		return false
	}
	x.t = unknown
	for i, a := range x.args {
		last := i == len(x.args)-1
		switch {
		case i%2 == 0 && !last:
			if a.t != Bool {
				return false
			}
		case a.isUnknown():
		case x.t == unknown:
			x.t = a.t
		case x.t != a.t:
			return false
		}
	}
	if x.t == unknown {
		x.t = Bool // of unknown
	}
	return true
}
