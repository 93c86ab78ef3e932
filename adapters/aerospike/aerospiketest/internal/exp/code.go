package exp

// Codes of expressions.
const (
	opUnknown = 0

	opEQ    = 1
	opNE    = 2
	opGT    = 3
	opGE    = 4
	opLT    = 5
	opLE    = 6
	opRegex = 7
	opGeo   = 8

	opAnd       = 16
	opOr        = 17
	opNot       = 18
	opExclusive = 19

	opAdd     = 20
	opSub     = 21
	opMul     = 22
	opDiv     = 23
	opPow     = 24
	opLog     = 25
	opMod     = 26
	opAbs     = 27
	opFloor   = 28
	opCeil    = 29
	opToInt   = 30
	opToFloat = 31

	opIntAnd     = 32
	opIntOr      = 33
	opIntXor     = 34
	opIntNot     = 35
	opIntLShift  = 36
	opIntRShift  = 37
	opIntARShift = 38
	opIntCount   = 39
	opIntLScan   = 40
	opIntRScan   = 41

	opMin = 50
	opMax = 51

	opDigestModulo = 64
	opDeviceSize   = 65
	opLastUpdate   = 66
	opSinceUpdate  = 67
	opVoidTime     = 68
	opTTL          = 69
	opSetName      = 70
	opKeyExists    = 71
	opIsTombstone  = 72
	opMemorySize   = 73
	opRecordSize   = 74

	opKey     = 80
	opBin     = 81
	opBinType = 82

	opCond   = 123
	opVar    = 124
	opLet    = 125
	opQuoted = 126
	opCall   = 127

	opLiteral = 128 // not on the wire
)

// Limits of an expression.
const (
	maxDepth = 256
	maxNodes = 1 << 16
	// maxWeight is how many characters the regular expressions of an expression may
	// have in all when repetitions are written out. They are memory.
	maxWeight = 1 << 17
	// maxWork is how many bytes the calls of one evaluation may take in and put
	// out. A variable that is appended to itself doubles with every call.
	maxWork = 128 << 20
)
