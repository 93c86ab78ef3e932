package otelx

import (
	"strings"
	"unicode"

	"github.com/spillway-go/spillway"
)

// aerospike is the db.system.name of Aerospike, which the conventions have none for. It is
// the one that others use, too.
const aerospike = "aerospike"

// aerospikePort is the port that needn't be named.
const aerospikePort = 3000

// batch is what the operations on many items begin with.
const batch = "BATCH"

// operationOf returns db.operation.name: of Aerospike's methods a closed list of verbs, of
// anything else what the call says. A batch of one item is the operation on one, as the
// conventions have it.
func operationOf(call spillway.Call) string {
	if call.System != aerospike {
		return call.Operation
	}
	name := aerospikeOperation(call.Operation)
	if call.BatchSize != 1 {
		return name
	}
	if name == batch {
		return "OPERATE"
	}
	return strings.TrimPrefix(name, batch+" ")
}

// aerospikeOperation returns the verb of a method of the driver's client.
func aerospikeOperation(method string) string {
	switch method {
	case "GetObject":
		return "GET"
	case "PutBins", "PutObject":
		return "PUT"
	case "AddBins", "AppendBins", "PrependBins":
		return snake(strings.TrimSuffix(method, "Bins"))
	case "Execute":
		return "APPLY"
	case "BatchGet", "BatchGetObjects", "BatchGetComplex", "BatchGetOperate":
		return batch + " GET"
	case "BatchGetHeader":
		return batch + " GET_HEADER"
	case "BatchOperate": // of any mixture
		return batch
	case "BatchExists", "BatchDelete":
		return batch + " " + snake(strings.TrimPrefix(method, "Batch"))
	case "BatchExecute":
		return batch + " APPLY"
	case "QueryExecute": // a job that goes on in the background
		return "QUERY_OPERATE"
	case "ExecuteUDF", "ExecuteUDFNode":
		return "QUERY_APPLY"
	case "QueryUser", "QueryUsers", "QueryRole", "QueryRoles":
		return snake(method)
	}
	switch {
	case strings.HasPrefix(method, "Scan"):
		return "SCAN"
	case strings.HasPrefix(method, "Query"):
		return "QUERY"
	}
	return snake(method)
}

// isBatch reports whether the call is for any number of items.
func isBatch(call spillway.Call) bool {
	return call.BatchSize > 0 || call.System == aerospike && strings.HasPrefix(call.Operation, "Batch")
}

// snake returns a Go name as SNAKE_CASE; UDF and XDR stay in one piece.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		after := i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if after {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// spanNameOf returns the name of a call's span: the operation, and what it is done to.
func spanNameOf(call spillway.Call) string {
	name := operationOf(call)
	switch {
	case call.Collection != "":
		name += " " + call.Collection
	case call.Namespace != "":
		name += " " + call.Namespace
	}
	if name == "" {
		return call.System
	}
	return name
}
