package security

// A Code is what a privilege allows, by its number on the wire.
type Code uint8

// Codes of privileges. Those from Read on may be for a namespace, or a set of it.
const (
	UserAdmin    Code = 0
	SysAdmin     Code = 1
	DataAdmin    Code = 2
	UDFAdmin     Code = 3
	SIndexAdmin  Code = 4
	Read         Code = 10
	ReadWrite    Code = 11
	ReadWriteUDF Code = 12
	Write        Code = 13
	Truncate     Code = 14
)

// A Privilege allows something, everywhere or in a namespace or set.
type Privilege struct {
	Code           Code
	Namespace, Set string
}

func (c Code) valid() bool  { return c <= SIndexAdmin || c >= Read && c <= Truncate }
func (c Code) scoped() bool { return c >= Read }

// A Need is what a command needs to be allowed.
type Need uint16

// Needs of commands.
const (
	NeedRead Need = 1 << iota
	NeedWrite
	NeedUDF
	NeedTruncate
	NeedIndexes
	NeedModules
	NeedSystem
	NeedUsers
)

// allows returns what a privilege allows where it is for.
func (c Code) allows() Need {
	const data = NeedTruncate | NeedIndexes | NeedModules
	switch c {
	case UserAdmin:
		return NeedUsers
	case SysAdmin:
		return NeedSystem | data
	case DataAdmin:
		return data
	case UDFAdmin:
		return NeedModules
	case SIndexAdmin:
		return NeedIndexes
	case Read:
		return NeedRead
	case ReadWrite:
		return NeedRead | NeedWrite
	case ReadWriteUDF:
		return NeedRead | NeedWrite | NeedUDF
	case Write:
		return NeedWrite
	case Truncate:
		return NeedTruncate
	}
	return 0
}

// covers reports whether a privilege is for a namespace and set.
func (p *Privilege) covers(namespace, set string) bool {
	return p.Namespace == "" || p.Namespace == namespace && (p.Set == "" || p.Set == set)
}

// predefined returns the roles that every server has.
func predefined() map[string]Code {
	return map[string]Code{
		"user-admin": UserAdmin, "sys-admin": SysAdmin, "data-admin": DataAdmin, "udf-admin": UDFAdmin, "sindex-admin": SIndexAdmin,
		"read": Read, "read-write": ReadWrite, "read-write-udf": ReadWriteUDF, "write": Write, "truncate": Truncate,
	}
}

// CodeOf returns the privilege that a predefined role has.
func CodeOf(role string) (Code, bool) {
	c, ok := predefined()[role]
	return c, ok
}
