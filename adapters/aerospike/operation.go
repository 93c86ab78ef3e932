package aerospike

import "github.com/spillway-go/spillway"

// Operation describes a method of the driver's client: what it does, and what stands
// in front of it here. It has nothing of the driver in it.
type Operation struct {
	Name       string        // the method's name
	Kind       spillway.Kind // what it does to the database
	Lane       string        // the lane it goes to; empty if it is exempt
	Idempotent bool          // whether it may be repeated without being told so
	Weight     string        // permits it takes: "1", or "nodes" for one at every node it touches
	Exempt     string        // why no lane stands in front of it; empty if one does
	lane       int           // Lane's index in defaultLanes
	changes    bool          // whether it changes anything
}

// Operations returns every method of the driver's client that does I/O or returns
// data, by name.
func Operations() []Operation {
	all := make([]Operation, len(operations))
	for i, op := range operations {
		all[i] = *op
	}
	return all
}

func read(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindRead, Lane: LaneRead, lane: 0, Idempotent: true, Weight: "1"}
}

func write(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindWrite, Lane: LaneWrite, lane: 1, Weight: "1", changes: true}
}

func batchRead(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindRead, Lane: LaneBatch, lane: 2, Idempotent: true, Weight: "nodes"}
}

func batchWrite(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindWrite, Lane: LaneBatch, lane: 2, Weight: "nodes", changes: true}
}

func stream(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindStream, Lane: LaneStream, lane: 3, Weight: "nodes"}
}

func job(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindJob, Lane: LaneStream, lane: 3, Weight: "nodes", changes: true}
}

func admin(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindAdmin, Lane: LaneAdmin, lane: 4, Weight: "1", changes: true}
}

// look is admin for what changes nothing.
func look(name string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindAdmin, Lane: LaneAdmin, lane: 4, Weight: "1"}
}

func exempt(name, why string) *Operation {
	return &Operation{Name: name, Kind: spillway.KindAdmin, Exempt: why}
}

const (
	local       = "local: it asks no server"
	lifecycleOp = "it opens or closes the connection, under the lifecycle machine"
)

// The operations, each under the name of its method.
var (
	opConnect = &Operation{Name: "Connect", Kind: spillway.KindAdmin, Exempt: lifecycleOp}

	opGet, opGetHeader, opExists, opGetObject = read("Get"), read("GetHeader"), read("Exists"), read("GetObject")

	opPut, opPutBins, opPutObject = write("Put"), write("PutBins"), write("PutObject")
	opAdd, opAddBins              = write("Add"), write("AddBins")
	opAppend, opAppendBins        = write("Append"), write("AppendBins")
	opPrepend, opPrependBins      = write("Prepend"), write("PrependBins")
	opTouch, opDelete             = write("Touch"), write("Delete")
	opOperate, opExecute          = write("Operate"), write("Execute")

	opBatchGet, opBatchGetHeader, opBatchExists          = batchRead("BatchGet"), batchRead("BatchGetHeader"), batchRead("BatchExists")
	opBatchGetObjects, opBatchGetOperate, opBatchComplex = batchRead("BatchGetObjects"), batchRead("BatchGetOperate"), batchRead("BatchGetComplex")
	opBatchOperate, opBatchDelete, opBatchExecute        = batchWrite("BatchOperate"), batchWrite("BatchDelete"), batchWrite("BatchExecute")

	opScanAll, opScanNode, opScanPartitions          = stream("ScanAll"), stream("ScanNode"), stream("ScanPartitions")
	opScanAllObjects, opScanNodeObjects              = stream("ScanAllObjects"), stream("ScanNodeObjects")
	opScanPartitionObjects                           = stream("ScanPartitionObjects")
	opQuery, opQueryNode, opQueryPartitions          = stream("Query"), stream("QueryNode"), stream("QueryPartitions")
	opQueryObjects, opQueryNodeObjects               = stream("QueryObjects"), stream("QueryNodeObjects")
	opQueryPartitionObjects, opQueryAggregate        = stream("QueryPartitionObjects"), stream("QueryAggregate")
	opQueryExecute, opExecuteUDF, opExecuteUDFNode   = job("QueryExecute"), job("ExecuteUDF"), job("ExecuteUDFNode")
	opRegisterUDF, opRegisterUDFFromFile             = admin("RegisterUDF"), admin("RegisterUDFFromFile")
	opRemoveUDF, opListUDF                           = admin("RemoveUDF"), look("ListUDF")
	opCreateIndex, opCreateComplexIndex, opDropIndex = admin("CreateIndex"), admin("CreateComplexIndex"), admin("DropIndex")
	opTruncate, opSetXDRFilter                       = admin("Truncate"), admin("SetXDRFilter")
	opCreateUser, opDropUser, opChangePassword       = admin("CreateUser"), admin("DropUser"), admin("ChangePassword")
	opGrantRoles, opRevokeRoles                      = admin("GrantRoles"), admin("RevokeRoles")
	opQueryUser, opQueryUsers                        = look("QueryUser"), look("QueryUsers")
	opCreateRole, opDropRole                         = admin("CreateRole"), admin("DropRole")
	opGrantPrivileges, opRevokePrivileges            = admin("GrantPrivileges"), admin("RevokePrivileges")
	opSetWhitelist, opSetQuotas                      = admin("SetWhitelist"), admin("SetQuotas")
	opQueryRole, opQueryRoles                        = look("QueryRole"), look("QueryRoles")
	opTaskDone                                       = look("TaskDone")

	opWarmUp, opStats = exempt("WarmUp", lifecycleOp), exempt("Stats", local)
)

// opBatchOperateReads is BatchOperate of nothing but reads.
var opBatchOperateReads = &Operation{Name: "BatchOperate", Kind: spillway.KindRead, Lane: LaneBatch, lane: 2, Idempotent: true, Weight: "nodes"}

// operations is the table, in the order of the driver's documentation.
var operations = []*Operation{
	opGet, opGetHeader, opExists, opGetObject,
	opPut, opPutBins, opPutObject, opAdd, opAddBins, opAppend, opAppendBins, opPrepend, opPrependBins, opTouch, opDelete, opOperate, opExecute,
	opBatchGet, opBatchGetHeader, opBatchExists, opBatchGetObjects, opBatchGetOperate, opBatchComplex, opBatchOperate, opBatchDelete, opBatchExecute,
	opScanAll, opScanNode, opScanPartitions, opScanAllObjects, opScanNodeObjects, opScanPartitionObjects,
	opQuery, opQueryNode, opQueryPartitions, opQueryObjects, opQueryNodeObjects, opQueryPartitionObjects, opQueryAggregate,
	opQueryExecute, opExecuteUDF, opExecuteUDFNode,
	opRegisterUDF, opRegisterUDFFromFile, opRemoveUDF, opListUDF, opCreateIndex, opCreateComplexIndex, opDropIndex, opTruncate, opSetXDRFilter,
	opCreateUser, opDropUser, opChangePassword, opGrantRoles, opRevokeRoles, opQueryUser, opQueryUsers,
	opCreateRole, opDropRole, opGrantPrivileges, opRevokePrivileges, opSetWhitelist, opSetQuotas, opQueryRole, opQueryRoles,
	opWarmUp, exempt("Close", lifecycleOp),
	exempt("Cluster", local), exempt("GetNodes", local), exempt("GetNodeNames", local), exempt("IsConnected", local), exempt("String", local),
	opStats, exempt("EnableMetrics", local), exempt("DisableMetrics", local), exempt("MetricsEnabled", local),
	exempt("GetDefaultPolicy", local), exempt("SetDefaultPolicy", local),
	exempt("GetDefaultBatchPolicy", local), exempt("SetDefaultBatchPolicy", local),
	exempt("GetDefaultBatchReadPolicy", local), exempt("SetDefaultBatchReadPolicy", local),
	exempt("GetDefaultBatchWritePolicy", local), exempt("SetDefaultBatchWritePolicy", local),
	exempt("GetDefaultBatchDeletePolicy", local), exempt("SetDefaultBatchDeletePolicy", local),
	exempt("GetDefaultBatchUDFPolicy", local), exempt("SetDefaultBatchUDFPolicy", local),
	exempt("GetDefaultWritePolicy", local), exempt("SetDefaultWritePolicy", local),
	exempt("GetDefaultScanPolicy", local), exempt("SetDefaultScanPolicy", local),
	exempt("GetDefaultQueryPolicy", local), exempt("SetDefaultQueryPolicy", local),
	exempt("GetDefaultAdminPolicy", local), exempt("SetDefaultAdminPolicy", local),
	exempt("GetDefaultInfoPolicy", local), exempt("SetDefaultInfoPolicy", local),
}
