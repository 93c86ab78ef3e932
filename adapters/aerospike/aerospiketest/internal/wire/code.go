package wire

// Code is a result code.
type Code uint8

// Result codes.
const (
	OK                   Code = 0
	ServerError          Code = 1
	NotFound             Code = 2
	GenerationError      Code = 3
	ParameterError       Code = 4
	RecordExists         Code = 5
	BinExists            Code = 6
	ServerMem            Code = 8
	Timeout              Code = 9
	PartitionUnavailable Code = 11
	BinTypeError         Code = 12
	RecordTooBig         Code = 13
	KeyBusy              Code = 14
	ScanAbort            Code = 15
	Unsupported          Code = 16
	BinNotFound          Code = 17
	DeviceOverload       Code = 18
	KeyMismatch          Code = 19
	InvalidNamespace     Code = 20
	BinName              Code = 21
	Forbidden            Code = 22
	ElementNotFound      Code = 23
	ElementExists        Code = 24
	EnterpriseOnly       Code = 25
	OpNotApplicable      Code = 26
	FilteredOut          Code = 27
	SecurityNotSupported Code = 51
	SecurityNotEnabled   Code = 52
	InvalidCommand       Code = 54
	InvalidField         Code = 55
	InvalidUser          Code = 60
	UserExists           Code = 61
	InvalidPassword      Code = 62
	InvalidCredential    Code = 65
	ExpiredSession       Code = 66
	InvalidRole          Code = 70
	RoleExists           Code = 71
	InvalidPrivilege     Code = 72
	InvalidWhitelist     Code = 73
	NotAuthenticated     Code = 80
	RoleViolation        Code = 81
	NotWhitelisted       Code = 82
	UDFError             Code = 100
	InvalidGeoJSON       Code = 160
	IndexNotFound        Code = 201
)
