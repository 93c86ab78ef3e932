package security

import (
	"crypto/rand"
	"crypto/subtle"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// maxName is the longest name of a user or role.
const maxName = 63

// A Role is a set of privileges.
type Role struct {
	Name                  string
	Privileges            []Privilege
	Whitelist             string // addresses and networks, by commas; empty is any
	ReadQuota, WriteQuota uint32

	fixed bool // every server has it
}

// A user is somebody who may log in.
type user struct {
	name  string
	hash  []byte
	roles []string
}

// A Store has the users and roles of a server. All methods are safe for concurrent
// use.
type Store struct {
	clock  *store.Clock
	ttl    time.Duration // of sessions
	hasher hasher

	mu       sync.RWMutex
	users    map[string]*user   // guarded by mu
	roles    map[string]*Role   // guarded by mu
	sessions map[string]Session // guarded by mu; by token
}

// A Session is a login. The zero value is nobody's.
type Session struct {
	user    string
	expires int64 // by the clock
}

// NewStore returns a store with the roles that every server has, and no users.
func NewStore(clock *store.Clock, ttl time.Duration) *Store {
	s := &Store{
		clock: clock, ttl: ttl, hasher: hasher{newCipher()},
		users: make(map[string]*user), roles: make(map[string]*Role), sessions: make(map[string]Session),
	}
	for name, c := range predefined() {
		s.roles[name] = &Role{Name: name, Privileges: []Privilege{{Code: c}}, fixed: true}
	}
	return s
}

// AddUser adds a user with a password in clear.
func (s *Store) AddUser(name, password string, roles []string) wire.Code {
	return s.createUser(name, s.hasher.hash(password), roles)
}

// AddRole adds a role.
func (s *Store) AddRole(r Role) wire.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Name == "" || len(r.Name) > maxName:
		return wire.InvalidRole
	case s.roles[r.Name] != nil:
		return wire.RoleExists
	case !validWhitelist(r.Whitelist):
		return wire.InvalidWhitelist
	}
	for _, p := range r.Privileges {
		if !p.Code.valid() || !p.Code.scoped() && p.Namespace != "" || p.Namespace == "" && p.Set != "" {
			return wire.InvalidPrivilege
		}
	}
	s.roles[r.Name] = &r
	return wire.OK
}

func (s *Store) createUser(name string, hash []byte, roles []string) wire.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case name == "" || len(name) > maxName:
		return wire.InvalidUser
	case s.users[name] != nil:
		return wire.UserExists
	case len(hash) == 0:
		return wire.InvalidPassword
	case !s.knownLocked(roles):
		return wire.InvalidRole
	}
	s.users[name] = &user{name: name, hash: slices.Clone(hash), roles: slices.Clone(roles)}
	return wire.OK
}

func (s *Store) knownLocked(roles []string) bool {
	return !slices.ContainsFunc(roles, func(r string) bool { return s.roles[r] == nil })
}

// login begins a session of a user who has shown a hash, or a password in clear.
func (s *Store) login(name string, hash []byte, clearText, from string) (token string, c wire.Code) {
	if len(hash) == 0 {
		hash = s.hasher.hash(clearText)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[name]
	switch {
	case u == nil:
		return "", wire.InvalidUser
	case subtle.ConstantTimeCompare(u.hash, hash) != 1:
		return "", wire.InvalidCredential
	case !s.welcomeLocked(u, from):
		return "", wire.NotWhitelisted
	}
	now := s.clock.Now()
	for t, x := range s.sessions {
		if x.expires <= now {
			delete(s.sessions, t)
		}
	}
	token = rand.Text()
	s.sessions[token] = Session{user: name, expires: now + int64(s.ttl)}
	return token, wire.OK
}

// resume returns the session of a token.
func (s *Store) resume(name, token, from string) (Session, wire.Code) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, ok := s.sessions[token]
	u := s.users[x.user]
	switch {
	case !ok || x.expires <= s.clock.Now():
		return Session{}, wire.ExpiredSession
	case u == nil || name != "" && name != x.user:
		return Session{}, wire.InvalidUser
	case !s.welcomeLocked(u, from):
		return Session{}, wire.NotWhitelisted
	}
	return x, wire.OK
}

// welcomeLocked reports whether a user may come from an address: from any, or from
// those of the roles that name some.
func (s *Store) welcomeLocked(u *user, from string) bool {
	named := false
	at, err := netip.ParseAddr(from)
	for _, name := range u.roles {
		r := s.roles[name]
		if r == nil || r.Whitelist == "" {
			continue
		}
		named = true
		for entry := range strings.SplitSeq(r.Whitelist, ",") {
			if p, ok := parseNetwork(entry); ok && err == nil && p.Contains(at.Unmap()) {
				return true
			}
		}
	}
	return !named
}

func parseNetwork(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

func validWhitelist(list string) bool {
	if list == "" {
		return true
	}
	for entry := range strings.SplitSeq(list, ",") {
		if _, ok := parseNetwork(entry); !ok {
			return false
		}
	}
	return true
}

// Check reports whether a session's user may do something in a namespace and set.
func (s *Store) Check(x Session, need Need, namespace, set string) wire.Code {
	if x.user == "" {
		return wire.NotAuthenticated
	}
	if x.expires <= s.clock.Now() {
		return wire.ExpiredSession
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	u := s.users[x.user]
	if u == nil {
		return wire.NotAuthenticated
	}
	for _, name := range u.roles {
		r := s.roles[name]
		if r == nil {
			continue
		}
		for i := range r.Privileges {
			if p := &r.Privileges[i]; p.covers(namespace, set) {
				need &^= p.Code.allows()
			}
		}
	}
	if need != 0 {
		return wire.RoleViolation
	}
	return wire.OK
}
