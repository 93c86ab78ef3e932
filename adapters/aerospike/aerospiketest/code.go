package aerospiketest

import "github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"

// A Code is a result code of the protocol. Any number may be used; those named
// here are the ones that tests ask for most. The zero value is success.
type Code uint8

// Result codes.
const (
	CodeOK                   = Code(wire.OK)
	CodeServerError          = Code(wire.ServerError)
	CodeNotFound             = Code(wire.NotFound)
	CodeGeneration           = Code(wire.GenerationError)
	CodeParameter            = Code(wire.ParameterError)
	CodeRecordExists         = Code(wire.RecordExists)
	CodeServerMem            = Code(wire.ServerMem)
	CodeTimeout              = Code(wire.Timeout)
	CodePartitionUnavailable = Code(wire.PartitionUnavailable)
	CodeBinType              = Code(wire.BinTypeError)
	CodeRecordTooBig         = Code(wire.RecordTooBig)
	CodeKeyBusy              = Code(wire.KeyBusy)
	CodeUnsupported          = Code(wire.Unsupported)
	CodeDeviceOverload       = Code(wire.DeviceOverload)
	CodeInvalidNamespace     = Code(wire.InvalidNamespace)
	CodeBinName              = Code(wire.BinName)
	CodeForbidden            = Code(wire.Forbidden)
	CodeEnterpriseOnly       = Code(wire.EnterpriseOnly)
	CodeOpNotApplicable      = Code(wire.OpNotApplicable)
	CodeFilteredOut          = Code(wire.FilteredOut)
	CodeScanAbort            = Code(wire.ScanAbort)
	CodeIndexNotFound        = Code(wire.IndexNotFound)
	CodeSecurityNotEnabled   = Code(wire.SecurityNotEnabled)
	CodeNotAuthenticated     = Code(wire.NotAuthenticated)
	CodeRoleViolation        = Code(wire.RoleViolation)
	CodeUDF                  = Code(wire.UDFError)
)
