package aerospike

import (
	"strconv"
	"strings"

	"github.com/aerospike/aerospike-client-go/v7/types"
)

// StatusCode returns the result code by name if the server answered it, and nothing if the
// driver made it up: the value of the db.response.status_code attribute. (TIMEOUT may be
// either; nobody can tell.)
func (e *Error) StatusCode() string {
	if e.Code <= types.OK {
		return ""
	}
	return codeName(e.Code)
}

// ResultCode returns Code as a number.
func (e *Error) ResultCode() int { return int(e.Code) }

// Doubtful returns InDoubt.
func (e *Error) Doubtful() bool { return e.InDoubt }

// codeName returns the driver's name of a result code, and the number of one that the
// driver has no name for, so that the names are a closed set.
func codeName(code types.ResultCode) string {
	name := code.String()
	if strings.ContainsRune(name, ' ') { // a sentence
		return strconv.Itoa(int(code))
	}
	return name
}
