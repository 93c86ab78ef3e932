package security_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/security"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

type fields map[byte]string

// command builds an admin command that announces no field at all.
func command(code byte, f fields) []byte {
	b := make([]byte, 16)
	b[2] = code
	for id := range byte(20) {
		if data, ok := f[id]; ok {
			b = append(append(binary.BigEndian.AppendUint32(b, uint32(len(data)+1)), id), data...)
		}
	}
	return b
}

func newStore(t testing.TB) (*security.Store, *store.Clock, *security.Session) {
	t.Helper()
	clock := new(store.Clock)
	s := security.NewStore(clock, time.Hour)
	require.Equal(t, wire.OK, s.AddUser("admin", "secret", []string{"user-admin"}))
	x := new(security.Session)
	_, c := s.Answer(nil, command(20, fields{0: "admin", 4: "secret"}), x, "127.0.0.1")
	require.Equal(t, wire.OK, c)
	return s, clock, x
}

func TestAdminCommandsAnswerWithTheirCodes(t *testing.T) {
	s, _, x := newStore(t)
	hash := string(make([]byte, 60))
	for i, step := range []struct {
		code byte
		f    fields
		want wire.Code
	}{
		{1, fields{0: "u", 1: hash, 10: "\x01\x04read"}, wire.OK},
		{1, fields{0: "u", 1: hash}, wire.UserExists},
		{1, fields{1: hash}, wire.InvalidUser},
		{1, fields{0: "v", 1: hash, 10: "\x01\x04none"}, wire.InvalidRole},
		{1, fields{0: "v", 1: hash, 10: "\x05\x04read"}, wire.InvalidField},
		{1, fields{0: "v"}, wire.InvalidPassword},
		{10, fields{11: "r", 12: "\x01\x0a\x04test\x01s", 13: "127.0.0.1"}, wire.OK},
		{10, fields{11: "r", 12: "\x01\x0a\x00\x00"}, wire.RoleExists},
		{10, fields{11: "q", 12: "\x01\x63"}, wire.InvalidPrivilege},
		{10, fields{11: "q", 12: "\x01\x0a\x00\x01s"}, wire.InvalidPrivilege},
		{10, fields{11: "q", 13: "nowhere"}, wire.InvalidWhitelist},
		{10, fields{}, wire.InvalidRole},
		{5, fields{0: "u", 10: "\x01\x01r"}, wire.OK},
		{5, fields{0: "none", 10: "\x01\x01r"}, wire.InvalidUser},
		{5, fields{0: "u", 10: "\x01\x01q"}, wire.InvalidRole},
		{6, fields{0: "u", 10: "\x01\x04read"}, wire.OK},
		{12, fields{11: "r", 12: "\x01\x0b\x00\x00"}, wire.OK},
		{13, fields{11: "r", 12: "\x01\x0b\x00\x00"}, wire.OK},
		{12, fields{11: "read", 12: "\x01\x0b\x00\x00"}, wire.InvalidRole},
		{14, fields{11: "r", 13: "10.0.0.0/8,::1"}, wire.OK},
		{14, fields{11: "r", 13: "x"}, wire.InvalidWhitelist},
		{15, fields{11: "r", 14: "\x00\x00\x00\x01", 15: "\x00\x00\x00\x02"}, wire.OK},
		{3, fields{0: "u", 1: "other"}, wire.OK},
		{4, fields{0: "u", 1: "new", 2: "wrong"}, wire.InvalidPassword},
		{4, fields{0: "u", 1: "new", 2: "other"}, wire.OK},
		{9, fields{}, wire.OK},
		{9, fields{0: "none"}, wire.InvalidUser},
		{16, fields{}, wire.OK},
		{16, fields{11: "none"}, wire.InvalidRole},
		{11, fields{11: "r"}, wire.OK},
		{11, fields{11: "r"}, wire.InvalidRole},
		{2, fields{0: "u"}, wire.OK},
		{2, fields{0: "u"}, wire.OK},
		{3, fields{0: "u", 1: "x"}, wire.InvalidUser},
		{99, fields{11: "x"}, wire.InvalidRole},
		{20, fields{0: "none", 3: "x"}, wire.InvalidUser},
	} {
		session := *x
		out, c := s.Answer(nil, command(step.code, step.f), &session, "127.0.0.1")
		require.Equal(t, step.want, c, "%d: %d %q", i, step.code, step.f)
		require.GreaterOrEqual(t, len(out), 24)
	}
	for _, b := range [][]byte{nil, make([]byte, 15), append(make([]byte, 16), 0, 0, 0, 9, 1), append(make([]byte, 16), 0, 0, 0, 0, 1)} {
		_, c := s.Answer(nil, b, x, "")
		require.Equal(t, wire.InvalidField, c)
	}
}

func TestSessionsAreBoundToUserPlaceAndTime(t *testing.T) {
	s, clock, admin := newStore(t)
	require.Equal(t, wire.OK, s.AddRole(security.Role{Name: "home", Privileges: []security.Privilege{{Code: security.Read, Namespace: "test"}}, Whitelist: "10.0.0.0/8,::1"}))
	require.Equal(t, wire.OK, s.AddUser("u", "p", []string{"home"}))
	var x security.Session
	require.Equal(t, wire.NotAuthenticated, s.Check(x, 0, "", ""))
	login := command(20, fields{0: "u", 4: "p"})
	_, c := s.Answer(nil, login, &x, "127.0.0.1")
	require.Equal(t, wire.NotWhitelisted, c)
	_, c = s.Answer(nil, command(20, fields{0: "u", 4: "wrong"}), &x, "10.1.1.1")
	require.Equal(t, wire.InvalidCredential, c)
	out, c := s.Answer(nil, login, &x, "10.1.1.1")
	require.Equal(t, wire.OK, c)
	token := string(out[29 : 29+binary.BigEndian.Uint32(out[24:])-1])
	require.Equal(t, wire.OK, s.Check(x, security.NeedRead, "test", "s"))
	require.Equal(t, wire.RoleViolation, s.Check(x, security.NeedRead, "other", ""))
	require.Equal(t, wire.RoleViolation, s.Check(x, security.NeedWrite, "test", "s"))
	_, c = s.Answer(nil, command(9, fields{0: "u"}), &x, "")
	require.Equal(t, wire.OK, c, "everybody may ask for themselves")
	_, c = s.Answer(nil, command(9, fields{}), &x, "")
	require.Equal(t, wire.RoleViolation, c)

	resume := func(user, token, from string) wire.Code {
		var y security.Session
		_, c := s.Answer(nil, command(0, fields{0: user, 5: token}), &y, from)
		return c
	}
	require.Equal(t, wire.OK, resume("u", token, "::1"))
	require.Equal(t, wire.OK, resume("", token, "::ffff:10.0.0.1"))
	require.Equal(t, wire.InvalidUser, resume("admin", token, "::1"))
	require.Equal(t, wire.NotWhitelisted, resume("u", token, "nowhere"))
	require.Equal(t, wire.ExpiredSession, resume("u", "x", "::1"))
	clock.Advance(time.Hour)
	require.Equal(t, wire.ExpiredSession, resume("u", token, "::1"))
	require.Equal(t, wire.ExpiredSession, s.Check(x, 0, "", ""))
	_, c = s.Answer(nil, command(20, fields{0: "admin", 4: "secret"}), admin, "")
	require.Equal(t, wire.OK, c)
	_, c = s.Answer(nil, login, &x, "10.1.1.1")
	require.Equal(t, wire.OK, c)
	_, c = s.Answer(nil, command(2, fields{0: "u"}), admin, "")
	require.Equal(t, wire.OK, c)
	require.Equal(t, wire.NotAuthenticated, s.Check(x, 0, "", ""))
}

// FuzzAnswer sends any bytes as admin commands of an administrator.
func FuzzAnswer(f *testing.F) {
	for code := range byte(21) {
		f.Add(command(code, fields{0: "u", 1: "h", 10: "\x01\x04read", 11: "r", 12: "\x02\x0a\x04test\x00\x01", 13: "1.2.3.4", 14: "abcd"}))
	}
	long := "\x01\xff" + strings.Repeat("r", 255)
	f.Add(command(5, fields{0: "u", 10: long}))
	f.Add(command(12, fields{11: "r", 12: "\x01\x0a" + long[1:] + long[1:]}))
	s, _, x := newStore(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		session := *x
		if out, _ := s.Answer(nil, b, &session, "127.0.0.1"); len(out) < 24 {
			t.Fatalf("the answer is %x", out)
		}
	})
}
