package aerospiketest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/info"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/security"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// DefaultSessionTTL is how long a session lasts if the config doesn't say.
const DefaultSessionTTL = 24 * time.Hour

// Security makes a server one with users, as only the Enterprise edition is, and as
// which it then shows itself. The zero value has the user that a new server has:
// admin, with the password admin and the role user-admin.
//
// The predefined roles are there: user-admin, sys-admin, data-admin, udf-admin,
// sindex-admin, read, read-write, read-write-udf, write and truncate. Users and roles
// can be changed by admin commands. Quotas are kept and shown, and not enforced.
type Security struct {
	// Users are those that may log in.
	Users []User
	// Roles are roles beside the predefined ones.
	Roles []Role
	// SessionTTL is how long a session lasts, in whole seconds of more than a
	// minute, up to ten years, for drivers log in again a minute before its end. [Server.Advance]
	// lets it pass. Zero means DefaultSessionTTL.
	SessionTTL time.Duration
}

// A User may log in.
type User struct {
	// Name and Password are what the user logs in with.
	Name, Password string
	// Roles are the names of roles.
	Roles []string
}

// A Role is a set of privileges.
type Role struct {
	// Name is that of no other role.
	Name string
	// Privileges are what the role allows.
	Privileges []Privilege
	// Whitelist are the addresses and networks from which users with the role may
	// come. None means any.
	Whitelist []string
	// ReadQuota and WriteQuota are in records per second.
	ReadQuota, WriteQuota uint32
}

// A Privilege allows something, everywhere or in a namespace, or a set of one.
type Privilege struct {
	// Name is that of a predefined role, which has this privilege.
	Name string
	// Namespace and Set say where, for read, read-write, read-write-udf, write and
	// truncate.
	Namespace, Set string
}

// newStore returns users and roles. The error names all that are wrong.
func (c *Security) newStore(clock *store.Clock) (*security.Store, error) {
	ttl, users := c.SessionTTL, c.Users
	if ttl == 0 {
		ttl = DefaultSessionTTL
	}
	if len(users) == 0 {
		users = []User{{Name: "admin", Password: "admin", Roles: []string{"user-admin"}}}
	}
	var errs []error
	fault := func(code wire.Code, what, name string) {
		if code != wire.OK {
			errs = append(errs, fmt.Errorf("aerospiketest: Config.Security: %s %q is refused: %s", what, name, refusal(code)))
		}
	}
	if ttl <= time.Minute || ttl > maxTTL || ttl%time.Second != 0 {
		errs = append(errs, fmt.Errorf("aerospiketest: Config.Security.SessionTTL is %v, want whole seconds of more than a minute, up to %v, or 0 for a default", c.SessionTTL, maxTTL))
	}
	s := security.NewStore(clock, ttl)
	for _, r := range c.Roles {
		role := security.Role{Name: r.Name, Whitelist: strings.Join(r.Whitelist, ","), ReadQuota: r.ReadQuota, WriteQuota: r.WriteQuota}
		for _, p := range r.Privileges {
			code, ok := security.CodeOf(p.Name)
			if !ok {
				fault(wire.InvalidPrivilege, "the privilege", p.Name)
				continue
			}
			role.Privileges = append(role.Privileges, security.Privilege{Code: code, Namespace: p.Namespace, Set: p.Set})
		}
		fault(s.AddRole(role), "the role", r.Name)
	}
	for _, u := range users {
		fault(s.AddUser(u.Name, u.Password, slices.Clone(u.Roles)), "the user", u.Name)
	}
	return s, errors.Join(errs...)
}

// refusal says why a user or role can't be.
func refusal(c wire.Code) string {
	switch c {
	case wire.InvalidUser:
		return "want a name of 1 to 63 bytes"
	case wire.UserExists, wire.RoleExists:
		return "there is one of that name"
	case wire.InvalidRole:
		return "want a name of 1 to 63 bytes, and roles that are there"
	case wire.InvalidPrivilege:
		return "want the name of a predefined role, a namespace only where it can be for one, and a set only with a namespace"
	case wire.InvalidWhitelist:
		return "want addresses or networks in its whitelist"
	default:
		return fmt.Sprintf("code %d", c)
	}
}

// admin answers an admin command.
func (c *conn) admin() {
	users := c.node.srv.users
	if users == nil {
		c.out = appendAdmin(c.out, wire.SecurityNotEnabled)
		return
	}
	c.out, c.code = users.Answer(c.out, c.body, &c.session, c.clientHost())
}

// clientHost returns the client's address without its port.
func (c *conn) clientHost() string {
	from := c.raw.RemoteAddr().String()
	if i := strings.LastIndexByte(from, ':'); i >= 0 {
		from = from[:i]
	}
	return strings.Trim(from, "[]")
}

// permit says whether the connection's user may do something.
func (c *conn) permit(need security.Need, namespace, set string) wire.Code {
	return c.node.srv.users.Check(c.session, need, namespace, set)
}

// permitMessage is permit for a message.
func (c *conn) permitMessage(m *wire.Message) wire.Code {
	var need security.Need
	switch {
	case m.UDFPackage != nil:
		need = security.NeedUDF
	case m.Info2&(wire.Info2Write|wire.Info2Delete) != 0:
		need = security.NeedWrite
		if m.Info1&wire.Info1Read != 0 {
			need |= security.NeedRead
		}
	default:
		need = security.NeedRead
	}
	return c.permit(need, string(m.Namespace), string(m.Set))
}

// infoPermit is what info commands ask; nil on a server without users.
func (c *conn) infoPermit() info.Permit {
	if c.node.srv.users == nil {
		return nil
	}
	return c.permit
}

// refusedByUsers answers a scan, query or background job that the user may not
// start, and a batch of somebody who has not logged in. Of records each is looked at
// on its own.
func (c *conn) refusedByUsers() bool {
	if c.node.srv.users == nil {
		return false
	}
	code := wire.OK
	switch c.cmd.kind {
	case KindScan, KindQuery, KindBackground:
		code = c.permitMessage(&c.msg)
	case KindBatch:
		code = c.permit(0, "", "")
	default:
	}
	if code == wire.OK {
		return false
	}
	c.fail(code)
	return true
}
