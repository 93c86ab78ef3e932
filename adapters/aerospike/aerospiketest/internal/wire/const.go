package wire

// Version is the protocol version of every frame.
const Version = 2

// Types of frames.
const (
	TypeInfo       = 1
	TypeAdmin      = 2
	TypeMessage    = 3
	TypeCompressed = 4
)

// Sizes in bytes.
const (
	FrameSize  = 8  // the header of a frame
	HeaderSize = 22 // the header of a message
	DigestSize = 20
	// MaxBody is the largest body a frame may announce; a longer one is a
	// protocol error, as on the real server.
	MaxBody = 128 << 20
	// MaxBinName and MaxSetName are the longest names that can be written.
	MaxBinName = 15
	MaxSetName = 63
	// MaxBins is how many bins a record may have, and MaxOps how many operations a
	// command.
	MaxBins = 32767
	MaxOps  = 32 << 10
)

// Bits of the first info byte.
const (
	Info1Read      = 0x01
	Info1GetAll    = 0x02
	Info1Short     = 0x04
	Info1Batch     = 0x08
	Info1NoBins    = 0x20
	Info1APReadAll = 0x40
	Info1Compress  = 0x80
)

// Bits of the second info byte.
const (
	Info2Write         = 0x01
	Info2Delete        = 0x02
	Info2Generation    = 0x04 // apply if the generation is equal
	Info2GenerationGT  = 0x08 // apply if the sent generation is greater
	Info2DurableDelete = 0x10
	Info2CreateOnly    = 0x20
	Info2RelaxAPLong   = 0x40
	Info2RespondAllOps = 0x80
)

// Bits of the third info byte.
const (
	Info3Last            = 0x01
	Info3CommitMaster    = 0x02
	Info3PartitionDone   = 0x04
	Info3UpdateOnly      = 0x08
	Info3CreateOrReplace = 0x10
	Info3ReplaceOnly     = 0x20
)

// Types of fields.
const (
	FieldNamespace        = 0
	FieldSet              = 1
	FieldKey              = 2
	FieldDigest           = 4
	FieldTaskID           = 7
	FieldSocketTimeout    = 9
	FieldRecordsPerSecond = 10
	FieldPIDArray         = 11 // partition ids, two bytes each, little endian
	FieldDigestArray      = 12
	FieldMaxRecords       = 13
	FieldBValArray        = 15
	FieldIndexName        = 21
	FieldIndexRange       = 22
	FieldIndexContext     = 23
	FieldIndexType        = 26
	FieldUDFPackage       = 30
	FieldUDFFunction      = 31
	FieldUDFArgs          = 32
	FieldUDFOp            = 33
	FieldQueryBins        = 40
	FieldBatchAny         = 41
	FieldBatchRead        = 42
	FieldFilter           = 43
)

// What a query does with a function.
const (
	UDFAggregate  = 1
	UDFBackground = 2
)

// Codes of operations.
const (
	OpRead       = 1
	OpWrite      = 2
	OpCDTRead    = 3
	OpCDTModify  = 4
	OpIncr       = 5
	OpExpRead    = 7
	OpExpModify  = 8
	OpAppend     = 9
	OpPrepend    = 10
	OpTouch      = 11
	OpBitsRead   = 12
	OpBitsModify = 13
	OpDeleteAll  = 14
	OpHLLRead    = 15
	OpHLLModify  = 16
)

// Types of particles, as values are called on the wire.
const (
	ParticleNull    = 0
	ParticleInteger = 1
	ParticleFloat   = 2
	ParticleString  = 3
	ParticleBlob    = 4
	ParticleJava    = 7
	ParticleCSharp  = 8
	ParticlePython  = 9
	ParticleRuby    = 10
	ParticlePHP     = 11
	ParticleErlang  = 12
	ParticleBool    = 17
	ParticleHLL     = 18
	ParticleMap     = 19
	ParticleList    = 20
	ParticleGeoJSON = 23
)

// Times to live with a meaning of their own.
const (
	TTLDefault = 0
	TTLNever   = 0xffffffff
	TTLKeep    = 0xfffffffe
	// TTLNoTouch, as the percentage of a read, is a read that doesn't touch.
	TTLNoTouch = 0xffffffff
	// MaxTTL is ten years, the longest the server takes, in seconds.
	MaxTTL = 10 * 365 * 24 * 60 * 60
	// Epoch is the zero of void times, 2010-01-01 UTC, in Unix seconds.
	Epoch = 1262304000
)
