package aerospike

import "github.com/spillway-go/spillway"

// operation describes one kind of call. It has nothing of the driver in it.
type operation struct {
	name string
	kind spillway.Kind
}

// The operations, each under the name of its method.
var (
	opConnect   = &operation{"Connect", spillway.KindAdmin}
	opGet       = &operation{"Get", spillway.KindRead}
	opGetHeader = &operation{"GetHeader", spillway.KindRead}
	opExists    = &operation{"Exists", spillway.KindRead}
	opPut       = &operation{"Put", spillway.KindWrite}
	opAdd       = &operation{"Add", spillway.KindWrite}
	opAppend    = &operation{"Append", spillway.KindWrite}
	opPrepend   = &operation{"Prepend", spillway.KindWrite}
	opTouch     = &operation{"Touch", spillway.KindWrite}
	opDelete    = &operation{"Delete", spillway.KindWrite}
	opOperate   = &operation{"Operate", spillway.KindWrite}
	opBatchGet  = &operation{"BatchGet", spillway.KindRead}
	opScanAll   = &operation{"ScanAll", spillway.KindStream}
)
