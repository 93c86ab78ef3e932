package cdt

// Codes of operations on lists.
const (
	listSetType                 = 0
	listAppend                  = 1
	listAppendItems             = 2
	listInsert                  = 3
	listInsertItems             = 4
	listPop                     = 5
	listPopRange                = 6
	listRemove                  = 7
	listRemoveRange             = 8
	listSet                     = 9
	listTrim                    = 10
	listClear                   = 11
	listIncrement               = 12
	listSort                    = 13
	listSize                    = 16
	listGet                     = 17
	listGetRange                = 18
	listGetByIndex              = 19
	listGetByValue              = 20
	listGetByRank               = 21
	listGetAllByValue           = 22
	listGetByValueList          = 23
	listGetByIndexRange         = 24
	listGetByValueInterval      = 25
	listGetByRankRange          = 26
	listGetByRelRankRange       = 27
	listRemoveByIndex           = 32
	listRemoveByValue           = 33
	listRemoveByRank            = 34
	listRemoveAllByValue        = 35
	listRemoveByValueList       = 36
	listRemoveByIndexRange      = 37
	listRemoveByValueInterval   = 38
	listRemoveByRankRange       = 39
	listRemoveByRelRankRange    = 40
	opMap                       = 64 // and above: maps
	mapSetType                  = 64
	mapAdd                      = 65
	mapAddItems                 = 66
	mapPut                      = 67
	mapPutItems                 = 68
	mapReplace                  = 69
	mapReplaceItems             = 70
	mapIncrement                = 73
	mapDecrement                = 74
	mapClear                    = 75
	mapRemoveByKey              = 76
	mapRemoveByIndex            = 77
	mapRemoveByValue            = 78
	mapRemoveByRank             = 79
	mapRemoveByKeyList          = 81
	mapRemoveAllByValue         = 82
	mapRemoveByValueList        = 83
	mapRemoveByKeyInterval      = 84
	mapRemoveByIndexRange       = 85
	mapRemoveByValueInterval    = 86
	mapRemoveByRankRange        = 87
	mapRemoveByKeyRelIndexRange = 88
	mapRemoveByRelRankRange     = 89
	mapSize                     = 96
	mapGetByKey                 = 97
	mapGetByIndex               = 98
	mapGetByValue               = 99
	mapGetByRank                = 100
	mapGetAllByValue            = 102
	mapGetByKeyInterval         = 103
	mapGetByIndexRange          = 104
	mapGetByValueInterval       = 105
	mapGetByRankRange           = 106
	mapGetByKeyList             = 107
	mapGetByValueList           = 108
	mapGetByKeyRelIndexRange    = 109
	mapGetByRelRankRange        = 110
)

// removes reports whether an operation only takes away, so that there is nothing
// to do where there is nothing.
func removes(op int64) bool {
	switch {
	case op >= listPop && op <= listRemoveRange, op == listTrim, op == listClear,
		op >= listRemoveByIndex && op <= listRemoveByRelRankRange,
		op >= mapClear && op <= mapRemoveByRelRankRange && op != 80:
		return true
	}
	return false
}
