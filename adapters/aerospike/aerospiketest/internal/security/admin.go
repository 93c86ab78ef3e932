package security

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Commands.
const (
	cmdAuthenticate     = 0
	cmdCreateUser       = 1
	cmdDropUser         = 2
	cmdSetPassword      = 3
	cmdChangePassword   = 4
	cmdGrantRoles       = 5
	cmdRevokeRoles      = 6
	cmdQueryUsers       = 9
	cmdCreateRole       = 10
	cmdDropRole         = 11
	cmdGrantPrivileges  = 12
	cmdRevokePrivileges = 13
	cmdSetWhitelist     = 14
	cmdSetQuotas        = 15
	cmdQueryRoles       = 16
	cmdLogin            = 20
)

// endOfQuery is the code of the entry that ends a list.
const endOfQuery = 50

// Answer carries out an admin command and appends its answer, in frames, to out. It changes the
// session of the connection when somebody logs in. from is the client's address,
// without a port.
func (s *Store) Answer(out, body []byte, x *Session, from string) ([]byte, wire.Code) {
	r, ok := parse(body)
	if !ok {
		return fail(out, wire.InvalidField)
	}
	switch r.command {
	case cmdLogin:
		return s.answerLogin(out, r, x, from)
	case cmdAuthenticate:
		session, c := s.resume(r.text(fieldUser), r.text(fieldSessionToken), from)
		*x = session
		return fail(out, c)
	}
	own := x.user != "" && r.text(fieldUser) == x.user && (r.command == cmdChangePassword || r.command == cmdQueryUsers)
	need := NeedUsers
	if own {
		need = 0
	}
	if c := s.Check(*x, need, "", ""); c != wire.OK {
		return fail(out, c)
	}
	switch r.command {
	case cmdQueryUsers:
		return s.queryUsers(out, r)
	case cmdQueryRoles:
		return s.queryRoles(out, r)
	case cmdCreateUser, cmdDropUser, cmdSetPassword, cmdChangePassword, cmdGrantRoles, cmdRevokeRoles:
		return fail(out, s.changeUser(r))
	}
	return fail(out, s.changeRole(r))
}

// fail appends an answer of a code alone, which may be success.
func fail(out []byte, c wire.Code) ([]byte, wire.Code) {
	return frame(out, &entry{code: byte(c)}), c
}

func (s *Store) answerLogin(out []byte, r *request, x *Session, from string) ([]byte, wire.Code) {
	token, c := s.login(r.text(fieldUser), r.fields[fieldCredential], r.text(fieldClear), from)
	if c != wire.OK {
		*x = Session{}
		return fail(out, c)
	}
	*x, c = s.resume("", token, from)
	e := entry{code: byte(c)}
	e.add(fieldSessionToken, []byte(token))
	e.addNumber(fieldSessionTTL, uint32(s.ttl/time.Second))
	return frame(out, &e), c
}

func (s *Store) changeUser(r *request) wire.Code {
	name := r.text(fieldUser)
	roles, ok := r.roles()
	if !ok {
		return wire.InvalidField
	}
	if r.command == cmdCreateUser {
		return s.createUser(name, r.fields[fieldPassword], roles)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[name]
	if r.command == cmdDropUser {
		delete(s.users, name) // one that isn't there is fine
		return wire.OK
	}
	if u == nil {
		return wire.InvalidUser
	}
	switch r.command {
	case cmdSetPassword, cmdChangePassword:
		if r.command == cmdChangePassword && !bytes.Equal(u.hash, r.fields[fieldOldPassword]) || len(r.fields[fieldPassword]) == 0 {
			return wire.InvalidPassword
		}
		u.hash = bytes.Clone(r.fields[fieldPassword])
	case cmdGrantRoles:
		if !s.knownLocked(roles) {
			return wire.InvalidRole
		}
		for _, role := range roles {
			if !slices.Contains(u.roles, role) {
				u.roles = append(u.roles, role)
			}
		}
	case cmdRevokeRoles:
		if !s.knownLocked(roles) {
			return wire.InvalidRole
		}
		u.roles = slices.DeleteFunc(u.roles, func(role string) bool { return slices.Contains(roles, role) })
	}
	return wire.OK
}

func (s *Store) changeRole(r *request) wire.Code {
	privileges, ok := r.privileges()
	if !ok {
		return wire.InvalidPrivilege
	}
	name := r.text(fieldRole)
	if r.command == cmdCreateRole {
		return s.AddRole(Role{
			Name: name, Privileges: privileges, Whitelist: r.text(fieldWhitelist),
			ReadQuota: r.number(fieldReadQuota), WriteQuota: r.number(fieldWriteQuota),
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	role := s.roles[name]
	if role == nil || role.fixed {
		return wire.InvalidRole
	}
	switch r.command {
	case cmdDropRole:
		delete(s.roles, name)
		for _, u := range s.users {
			u.roles = slices.DeleteFunc(u.roles, func(x string) bool { return x == name })
		}
	case cmdGrantPrivileges:
		for _, p := range privileges {
			if !slices.Contains(role.Privileges, p) {
				role.Privileges = append(role.Privileges, p)
			}
		}
	case cmdRevokePrivileges:
		role.Privileges = slices.DeleteFunc(role.Privileges, func(p Privilege) bool { return slices.Contains(privileges, p) })
	case cmdSetWhitelist:
		if !validWhitelist(r.text(fieldWhitelist)) {
			return wire.InvalidWhitelist
		}
		role.Whitelist = r.text(fieldWhitelist)
	case cmdSetQuotas:
		role.ReadQuota, role.WriteQuota = r.number(fieldReadQuota), r.number(fieldWriteQuota)
	default:
		return wire.InvalidCommand
	}
	return wire.OK
}

// queryUsers lists all users, or one.
func (s *Store) queryUsers(out []byte, r *request) ([]byte, wire.Code) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := slices.Sorted(maps.Keys(s.users))
	if name := r.text(fieldUser); name != "" {
		if s.users[name] == nil {
			return fail(out, wire.InvalidUser)
		}
		names = []string{name}
	}
	var list []*entry
	for _, name := range names {
		u := s.users[name]
		roles := []byte{byte(min(len(u.roles), 255))}
		for _, role := range u.roles[:roles[0]] {
			roles = append(append(roles, byte(len(role))), role...)
		}
		e := new(entry)
		e.add(fieldUser, []byte(name))
		e.add(fieldRoles, roles)
		list = append(list, e)
	}
	return frame(frame(out, list...), &entry{code: endOfQuery}), wire.OK
}

// queryRoles lists all roles, or one.
func (s *Store) queryRoles(out []byte, r *request) ([]byte, wire.Code) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	names := slices.Sorted(maps.Keys(s.roles))
	if name := r.text(fieldRole); name != "" {
		if s.roles[name] == nil {
			return fail(out, wire.InvalidRole)
		}
		names = []string{name}
	}
	var list []*entry
	for _, name := range names {
		list = append(list, s.roles[name].entry())
	}
	return frame(frame(out, list...), &entry{code: endOfQuery}), wire.OK
}

func (r *Role) entry() *entry {
	list := []byte{byte(min(len(r.Privileges), 255))}
	for _, p := range r.Privileges[:list[0]] {
		list = append(list, byte(p.Code))
		if p.Code.scoped() {
			list = append(append(list, byte(len(p.Namespace))), p.Namespace...)
			list = append(append(list, byte(len(p.Set))), p.Set...)
		}
	}
	e := new(entry)
	e.add(fieldRole, []byte(r.Name))
	e.add(fieldPrivileges, list)
	if r.Whitelist != "" {
		e.add(fieldWhitelist, []byte(r.Whitelist))
	}
	if r.ReadQuota > 0 {
		e.addNumber(fieldReadQuota, r.ReadQuota)
	}
	if r.WriteQuota > 0 {
		e.addNumber(fieldWriteQuota, r.WriteQuota)
	}
	return e
}
