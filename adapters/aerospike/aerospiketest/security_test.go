package aerospiketest_test

import (
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func adminPolicy() *as.AdminPolicy {
	p := as.NewAdminPolicy()
	p.Timeout = patience
	return p
}

// login returns a client of a user.
func login(t testing.TB, s *aerospiketest.Server, user, password string) *as.Client {
	t.Helper()
	return connect(t, s, func(p *as.ClientPolicy) { p.User, p.Password = user, password })
}

func secured(t testing.TB) *aerospiketest.Server {
	t.Helper()
	return aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2, Security: &aerospiketest.Security{
		Users: []aerospiketest.User{
			{Name: "root", Password: "secret", Roles: []string{"user-admin", "sys-admin", "read-write-udf"}},
			{Name: "reader", Password: "r", Roles: []string{"read-s"}},
		},
		Roles:      []aerospiketest.Role{{Name: "read-s", Privileges: []aerospiketest.Privilege{{Name: "read", Namespace: "test", Set: "s"}}, Whitelist: []string{"127.0.0.0/8", "::1"}}},
		SessionTTL: time.Hour,
	}})
}

func TestSecurityOfCommands(t *testing.T) {
	s := secured(t)
	root, reader := login(t, s, "root", "secret"), login(t, s, "reader", "r")
	put(t, root, key(t, 1), as.NewBin("a", 1))
	put(t, root, key(t, 2), as.NewBin("a", 2))
	_, err := reader.Get(readPolicy(), key(t, 1))
	require.NoError(t, asError(err))
	_, err = reader.Get(readPolicy(), keyIn(t, "other", 1))
	require.Equal(t, types.ROLE_VIOLATION, codeOf(err))
	require.Equal(t, types.ROLE_VIOLATION, codeOf(reader.PutBins(writePolicy(), key(t, 1), as.NewBin("a", 2))))
	_, err = reader.Delete(writePolicy(), key(t, 1))
	require.Equal(t, types.ROLE_VIOLATION, codeOf(err))
	_, err = reader.Execute(writePolicy(), key(t, 1), "m", "f")
	require.Equal(t, types.ROLE_VIOLATION, codeOf(err))
	_, err = reader.QueryExecute(queryPolicy(), nil, as.NewStatement("test", "s"), as.TouchOp())
	require.Equal(t, types.ROLE_VIOLATION, codeOf(err))
	rs := []as.BatchRecordIfc{as.NewBatchRead(nil, key(t, 1), nil), as.NewBatchWrite(nil, key(t, 2), as.PutOp(as.NewBin("a", 9))), as.NewBatchRead(nil, key(t, 2), nil)}
	_ = reader.BatchOperate(batchPolicy(), rs) // the codes of the records are what counts
	require.Equal(t, types.OK, rs[0].BatchRec().ResultCode)
	require.Equal(t, types.ROLE_VIOLATION, rs[1].BatchRec().ResultCode)
	require.Error(t, reader.Truncate(nil, "test", "s", nil))
	_, err = reader.CreateIndex(writePolicy(), "test", "s", "i", "a", as.NUMERIC)
	require.Error(t, err)
	_, err = reader.RegisterUDF(writePolicy(), []byte("x = 1"), "m.lua", as.LUA)
	require.Error(t, err)
	all, err := reader.ScanAll(scanPolicy(), "test", "s")
	require.NoError(t, asError(err))
	n := 0
	for r := range all.Results() {
		require.NoError(t, asError(r.Err))
		n++
	}
	require.Equal(t, 2, n)
	require.NoError(t, asError(root.Truncate(nil, "test", "s", nil)))
	info, err := root.GetNodes()[0].RequestInfo(as.NewInfoPolicy(), "edition")
	require.NoError(t, asError(err))
	require.Equal(t, "Aerospike Enterprise Edition", info["edition"])
}

func TestSecurityOfLogins(t *testing.T) {
	s := secured(t)
	host, port := hostOf(t, s)
	for user, password := range map[string]string{"root": "wrong", "nobody": "x", "": ""} {
		p := as.NewClientPolicy()
		p.User, p.Password, p.Timeout = user, password, time.Second
		_, err := as.NewClientWithPolicy(p, host, port)
		require.Error(t, err, user)
	}
	c := dial(t, s.Addr())
	_, body := ask(t, c, proto(2, 3, frame{info1: 3, fields: [][]byte{field(0, []byte("test")), field(4, make([]byte, 20))}}.body()))
	require.EqualValues(t, aerospiketest.CodeNotAuthenticated, body[5])
	_, body = ask(t, c, proto(2, 3, frame{info1: 1, info3: 4, fields: [][]byte{field(0, []byte("test")), field(11, []byte{1, 0})}}.body()))
	require.EqualValues(t, aerospiketest.CodeNotAuthenticated, body[5])
	_, body = ask(t, c, proto(2, 1, []byte("node\n")))
	require.Equal(t, "ERROR:80:not authenticated\n", string(body))

	root := login(t, s, "root", "secret")
	put(t, root, key(t, 1), as.NewBin("a", 1))
	s.Advance(2 * time.Hour)
	_, err := root.Get(readPolicy(), key(t, 1))
	require.Equal(t, types.EXPIRED_SESSION, codeOf(err))
	again := login(t, s, "root", "secret")
	_, err = again.Get(readPolicy(), key(t, 1))
	require.NoError(t, asError(err))
}

func TestSecurityAdministration(t *testing.T) {
	s := secured(t)
	root := login(t, s, "root", "secret")
	p := adminPolicy()
	require.NoError(t, asError(root.CreateRole(p, "one", []as.Privilege{{Code: as.ReadWrite, Namespace: "test"}}, []string{"127.0.0.1"}, 10, 20)))
	require.NoError(t, asError(root.CreateRole(p, "two", []as.Privilege{{Code: as.Read}, {Code: as.Write, Namespace: "test", SetName: "s"}, {Code: as.UDFAdmin}}, nil, 0, 0)))
	require.Equal(t, types.ROLE_ALREADY_EXISTS, codeOf(root.CreateRole(p, "one", nil, nil, 0, 0)))
	role, err := root.QueryRole(p, "one")
	require.NoError(t, asError(err))
	require.Equal(t, &as.Role{Name: "one", Privileges: []as.Privilege{{Code: as.ReadWrite, Namespace: "test"}}, Whitelist: []string{"127.0.0.1"}, ReadQuota: 10, WriteQuota: 20}, role)
	roles, err := root.QueryRoles(p)
	require.NoError(t, asError(err))
	require.Len(t, roles, 13)
	require.NoError(t, asError(root.GrantPrivileges(p, "one", []as.Privilege{{Code: as.Truncate}})))
	require.NoError(t, asError(root.RevokePrivileges(p, "one", []as.Privilege{{Code: as.Truncate}})))
	require.NoError(t, asError(root.SetWhitelist(p, "one", nil)))
	require.NoError(t, asError(root.SetQuotas(p, "one", 1, 2)))
	require.NoError(t, asError(root.CreateUser(p, "u", "first", []string{"one"})))
	u := login(t, s, "u", "first")
	put(t, u, key(t, 1), as.NewBin("a", 1))
	require.NoError(t, asError(u.ChangePassword(p, "u", "second")))
	require.NoError(t, asError(root.GrantRoles(p, "u", []string{"two", "sys-admin"})))
	require.NoError(t, asError(root.RevokeRoles(p, "u", []string{"one"})))
	who, err := u.QueryUser(p, "u")
	require.NoError(t, asError(err))
	require.ElementsMatch(t, []string{"two", "sys-admin"}, who.Roles)
	_, err = u.QueryUsers(p)
	require.Equal(t, types.ROLE_VIOLATION, codeOf(err))
	login(t, s, "u", "second")
	require.NoError(t, asError(root.DropRole(p, "two")))
	require.NoError(t, asError(root.DropUser(p, "u")))
	users, err := root.QueryUsers(p)
	require.NoError(t, asError(err))
	require.Len(t, users, 2)
	_, err = u.Get(readPolicy(), key(t, 1))
	require.Equal(t, types.NOT_AUTHENTICATED, codeOf(err))
}

func TestSecurityConfigIsChecked(t *testing.T) {
	for want, c := range map[string]aerospiketest.Security{
		"SessionTTL is 1s":                 {SessionTTL: time.Second},
		`user "u" is refused: want a`:      {Users: []aerospiketest.User{{Name: "u", Roles: []string{"none"}}}},
		`user "" is refused: want`:         {Users: []aerospiketest.User{{Name: ""}}},
		`user "v" is refused: there is`:    {Users: []aerospiketest.User{{Name: "v"}, {Name: "v"}}},
		`role "read" is refused: there`:    {Roles: []aerospiketest.Role{{Name: "read"}}},
		`privilege "all" is refused: want`: {Roles: []aerospiketest.Role{{Name: "r", Privileges: []aerospiketest.Privilege{{Name: "all"}}}}},
		`role "r" is refused: want the`:    {Roles: []aerospiketest.Role{{Name: "r", Privileges: []aerospiketest.Privilege{{Name: "sys-admin", Namespace: "test"}}}}},
		`role "w" is refused: want addr`:   {Roles: []aerospiketest.Role{{Name: "w", Whitelist: []string{"x"}}}},
	} {
		_, err := aerospiketest.Start(aerospiketest.Config{Security: &c, Nodes: -1})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "Config.Nodes is -1")
	}
	s := aerospiketest.NewServer(t, aerospiketest.Config{Security: new(aerospiketest.Security)})
	_, err := login(t, s, "admin", "admin").QueryUser(adminPolicy(), "admin")
	require.NoError(t, asError(err))
}

func TestSecurityRefusesARoleOfTheLongestName(t *testing.T) {
	root := login(t, secured(t), "root", "secret")
	name := strings.Repeat("r", 255)
	require.Equal(t, types.INVALID_ROLE, codeOf(root.GrantRoles(adminPolicy(), "reader", []string{name})))
	p := []as.Privilege{{Code: as.Read, Namespace: name, SetName: name}}
	require.Equal(t, types.OK, codeOf(root.CreateRole(adminPolicy(), "long", p, nil, 0, 0)))
}
