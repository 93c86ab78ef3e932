package aerospike_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// R126, R127: every method of the driver's client has a namesake here, which takes a
// context first if it asks a server; and a row in Operations, none of which is without
// a method.
func TestSurfaceIsTheDriversWhole(t *testing.T) {
	driver, ours := reflect.TypeFor[*as.Client](), reflect.TypeFor[*aerospike.Client]()
	require.Equal(t, 99, driver.NumMethod())
	rows := map[string]aerospike.Operation{}
	for _, op := range aerospike.Operations() {
		require.NotContains(t, rows, op.Name)
		rows[op.Name] = op
		_, ok := driver.MethodByName(op.Name)
		require.True(t, ok, "%s isn't a method of the driver's", op.Name)
	}
	takesContext := map[string]bool{"WarmUp": true, "Close": true, "Stats": true}
	for i := range driver.NumMethod() {
		name := driver.Method(i).Name
		m, ok := ours.MethodByName(name)
		require.True(t, ok, "%s is missing", name)
		op, ok := rows[name]
		require.True(t, ok, "%s isn't in the table", name)
		require.Equal(t, op.Lane == "", op.Exempt != "", name)
		first := m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]()
		require.Equal(t, op.Lane != "" || takesContext[name], first, "the first argument of %s", name)
		for j := range m.Type.NumOut() {
			require.NotEqual(t, reflect.TypeFor[as.Error](), m.Type.Out(j), "%s returns the driver's error", name)
		}
	}
	for _, c := range methods(t) {
		require.NotEmpty(t, rows[c.name].Lane, c.name)
		delete(rows, c.name)
	}
	for name, op := range rows {
		require.NotEmpty(t, op.Exempt, "%s isn't called by these tests", name)
	}
}

// method is a call of every method that a lane stands in front of. It drains streams.
type method struct {
	name string
	call func(context.Context, *aerospike.Client) error
}

type item struct {
	I int `as:"i"`
}

// drained reads a stream to its end.
func drained(stream *aerospike.Stream, err error) error {
	if err != nil {
		return err
	}
	for _, e := range stream.All() {
		err = errors.Join(err, e)
	}
	<-stream.Done()
	return err
}

// objects reads a stream of objects to its end.
func objects(open func(chan *item) (*aerospike.ObjectStream, error)) error {
	ch := make(chan *item, 1)
	stream, err := open(ch)
	if err != nil {
		return err
	}
	for range ch {
	}
	return stream.Err()
}

// second drops a result.
func second[T any](_ T, err error) error { return err }

func statement() *as.Statement { return as.NewStatement("test", "s") }

// methods are all of them, for a server with records 0 to 9.
func methods(t testing.TB) []method {
	t.Helper()
	all := recordMethods(newKey(t, 1))
	keys := make([]*as.Key, 10)
	for i := range keys {
		keys[i] = newKey(t, i)
	}
	all = append(all, batchMethods(keys)...)
	all = append(all, streamMethods(firstNode)...)
	file := filepath.Join(t.TempDir(), "m.lua")
	require.NoError(t, os.WriteFile(file, []byte("function f(r) return 1 end"), 0o600))
	return append(all, adminMethods(file)...)
}

type ctxt = context.Context

func recordMethods(key *as.Key) []method {
	bins := as.BinMap{"s": "a"}
	bin, num := as.NewBin("s", "a"), as.NewBin("i", 1)
	return []method{
		{"Put", func(ctx ctxt, c *aerospike.Client) error { return c.Put(ctx, nil, key, as.BinMap{"i": 1, "s": "a"}) }},
		{"PutBins", func(ctx ctxt, c *aerospike.Client) error { return c.PutBins(ctx, nil, key, num, bin) }},
		{"PutObject", func(ctx ctxt, c *aerospike.Client) error { return c.PutObject(ctx, nil, key, &item{I: 1}) }},
		{"Add", func(ctx ctxt, c *aerospike.Client) error { return c.Add(ctx, nil, key, as.BinMap{"i": 1}) }},
		{"AddBins", func(ctx ctxt, c *aerospike.Client) error { return c.AddBins(ctx, nil, key, num) }},
		{"Append", func(ctx ctxt, c *aerospike.Client) error { return c.Append(ctx, nil, key, bins) }},
		{"AppendBins", func(ctx ctxt, c *aerospike.Client) error { return c.AppendBins(ctx, nil, key, bin) }},
		{"Prepend", func(ctx ctxt, c *aerospike.Client) error { return c.Prepend(ctx, nil, key, bins) }},
		{"PrependBins", func(ctx ctxt, c *aerospike.Client) error { return c.PrependBins(ctx, nil, key, bin) }},
		{"Touch", func(ctx ctxt, c *aerospike.Client) error { return c.Touch(ctx, nil, key) }},
		{"Operate", func(ctx ctxt, c *aerospike.Client) error { return second(c.Operate(ctx, nil, key, as.AddOp(num))) }},
		{"Get", func(ctx ctxt, c *aerospike.Client) error { return second(c.Get(ctx, nil, key)) }},
		{"GetHeader", func(ctx ctxt, c *aerospike.Client) error { return second(c.GetHeader(ctx, nil, key)) }},
		{"Exists", func(ctx ctxt, c *aerospike.Client) error { return second(c.Exists(ctx, nil, key)) }},
		{"GetObject", func(ctx ctxt, c *aerospike.Client) error { return c.GetObject(ctx, nil, key, new(item)) }},
		{"Execute", func(ctx ctxt, c *aerospike.Client) error { return second(c.Execute(ctx, nil, key, "m", "f")) }},
		{"Delete", func(ctx ctxt, c *aerospike.Client) error { return second(c.Delete(ctx, nil, key)) }},
	}
}

func batchMethods(keys []*as.Key) []method {
	return []method{
		{"BatchGet", func(ctx ctxt, c *aerospike.Client) error { return second(c.BatchGet(ctx, nil, keys)) }},
		{"BatchGetHeader", func(ctx ctxt, c *aerospike.Client) error { return second(c.BatchGetHeader(ctx, nil, keys)) }},
		{"BatchExists", func(ctx ctxt, c *aerospike.Client) error { return second(c.BatchExists(ctx, nil, keys)) }},
		{"BatchGetOperate", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.BatchGetOperate(ctx, nil, keys, as.GetBinOp("i")))
		}},
		{"BatchGetObjects", func(ctx ctxt, c *aerospike.Client) error {
			into := make([]any, len(keys))
			for i := range into {
				into[i] = new(item)
			}
			return second(c.BatchGetObjects(ctx, nil, keys, into))
		}},
		{"BatchGetComplex", func(ctx ctxt, c *aerospike.Client) error {
			var reads []*as.BatchRead
			for _, k := range keys {
				reads = append(reads, as.NewBatchRead(nil, k, nil))
			}
			return c.BatchGetComplex(ctx, nil, reads)
		}},
		{"BatchOperate", func(ctx ctxt, c *aerospike.Client) error {
			var records []as.BatchRecordIfc
			for _, k := range keys {
				records = append(records, as.NewBatchWrite(nil, k, as.PutOp(as.NewBin("i", 1))))
			}
			err := c.BatchOperate(ctx, nil, records)
			for _, r := range records {
				err = errors.Join(err, asError(r.BatchRec().Err))
			}
			return err
		}},
		{"BatchExecute", func(ctx ctxt, c *aerospike.Client) error {
			records, err := c.BatchExecute(ctx, nil, nil, keys, "m", "f")
			return errors.Join(err, failedRecords(records))
		}},
		{"BatchDelete", func(ctx ctxt, c *aerospike.Client) error {
			records, err := c.BatchDelete(ctx, nil, nil, keys[5:])
			return errors.Join(err, failedRecords(records))
		}},
	}
}

func failedRecords(records []*as.BatchRecord) (err error) {
	for _, r := range records {
		if r != nil {
			err = errors.Join(err, asError(r.Err))
		}
	}
	return err
}

func firstNode(c *aerospike.Client) *as.Node { return c.GetNodes()[0] }

func streamMethods(node func(*aerospike.Client) *as.Node) []method {
	return []method{
		{"ScanAll", func(ctx ctxt, c *aerospike.Client) error { return drained(c.ScanAll(ctx, nil, "test", "s")) }},
		{"ScanNode", func(ctx ctxt, c *aerospike.Client) error { return drained(c.ScanNode(ctx, nil, node(c), "test", "s")) }},
		{"ScanPartitions", func(ctx ctxt, c *aerospike.Client) error {
			return drained(c.ScanPartitions(ctx, nil, nil, "test", "s"))
		}},
		{"Query", func(ctx ctxt, c *aerospike.Client) error { return drained(c.Query(ctx, nil, statement())) }},
		{"QueryNode", func(ctx ctxt, c *aerospike.Client) error { return drained(c.QueryNode(ctx, nil, node(c), statement())) }},
		{"QueryPartitions", func(ctx ctxt, c *aerospike.Client) error {
			return drained(c.QueryPartitions(ctx, nil, statement(), nil))
		}},
		{"QueryAggregate", func(ctx ctxt, c *aerospike.Client) error {
			return drained(c.QueryAggregate(ctx, nil, statement(), "m", "f"))
		}},
		{"ScanAllObjects", func(ctx ctxt, c *aerospike.Client) error {
			return objects(func(ch chan *item) (*aerospike.ObjectStream, error) {
				return c.ScanAllObjects(ctx, nil, ch, "test", "s")
			})
		}},
		{"ScanNodeObjects", func(ctx ctxt, c *aerospike.Client) error {
			return objects(func(ch chan *item) (*aerospike.ObjectStream, error) {
				return c.ScanNodeObjects(ctx, nil, node(c), ch, "test", "s")
			})
		}},
		{"ScanPartitionObjects", func(ctx ctxt, c *aerospike.Client) error {
			return objects(func(ch chan *item) (*aerospike.ObjectStream, error) {
				return c.ScanPartitionObjects(ctx, nil, ch, nil, "test", "s")
			})
		}},
		{"QueryObjects", func(ctx ctxt, c *aerospike.Client) error {
			return objects(func(ch chan *item) (*aerospike.ObjectStream, error) { return c.QueryObjects(ctx, nil, statement(), ch) })
		}},
		{"QueryNodeObjects", func(ctx ctxt, c *aerospike.Client) error {
			return objects(func(ch chan *item) (*aerospike.ObjectStream, error) {
				return c.QueryNodeObjects(ctx, nil, node(c), statement(), ch)
			})
		}},
		{"QueryPartitionObjects", func(ctx ctxt, c *aerospike.Client) error {
			return objects(func(ch chan *item) (*aerospike.ObjectStream, error) {
				return c.QueryPartitionObjects(ctx, nil, statement(), ch, nil)
			})
		}},
		{"QueryExecute", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.QueryExecute(ctx, nil, nil, statement(), as.PutOp(as.NewBin("j", 1))))
		}},
		{"ExecuteUDF", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.ExecuteUDF(ctx, nil, statement(), "m", "f"))
		}},
		{"ExecuteUDFNode", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.ExecuteUDFNode(ctx, nil, node(c), statement(), "m", "f"))
		}},
	}
}

func adminMethods(file string) []method {
	one := []string{"read"}
	may := []as.Privilege{{Code: as.Read}}
	return []method{
		{"CreateIndex", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.CreateIndex(ctx, nil, "test", "s", "idx", "i", as.NUMERIC))
		}},
		{"CreateComplexIndex", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.CreateComplexIndex(ctx, nil, "test", "s", "idl", "l", as.NUMERIC, as.ICT_LIST))
		}},
		{"DropIndex", func(ctx ctxt, c *aerospike.Client) error { return c.DropIndex(ctx, nil, "test", "s", "other") }},
		{"RegisterUDF", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.RegisterUDF(ctx, nil, []byte("function f(r) return 1 end"), "m.lua", as.LUA))
		}},
		{"RegisterUDFFromFile", func(ctx ctxt, c *aerospike.Client) error {
			return second(c.RegisterUDFFromFile(ctx, nil, file, "m.lua", as.LUA))
		}},
		{"ListUDF", func(ctx ctxt, c *aerospike.Client) error { return second(c.ListUDF(ctx, nil)) }},
		{"RemoveUDF", func(ctx ctxt, c *aerospike.Client) error { return second(c.RemoveUDF(ctx, nil, "m.lua")) }},
		{"SetXDRFilter", func(ctx ctxt, c *aerospike.Client) error { return c.SetXDRFilter(ctx, nil, "dc", "test", nil) }},
		{"CreateUser", func(ctx ctxt, c *aerospike.Client) error { return c.CreateUser(ctx, nil, "u", "p", one) }},
		{"DropUser", func(ctx ctxt, c *aerospike.Client) error { return c.DropUser(ctx, nil, "u") }},
		{"ChangePassword", func(ctx ctxt, c *aerospike.Client) error { return c.ChangePassword(ctx, nil, "u", "p") }},
		{"GrantRoles", func(ctx ctxt, c *aerospike.Client) error { return c.GrantRoles(ctx, nil, "u", one) }},
		{"RevokeRoles", func(ctx ctxt, c *aerospike.Client) error { return c.RevokeRoles(ctx, nil, "u", one) }},
		{"QueryUser", func(ctx ctxt, c *aerospike.Client) error { return second(c.QueryUser(ctx, nil, "u")) }},
		{"QueryUsers", func(ctx ctxt, c *aerospike.Client) error { return second(c.QueryUsers(ctx, nil)) }},
		{"CreateRole", func(ctx ctxt, c *aerospike.Client) error { return c.CreateRole(ctx, nil, "r", may, nil, 0, 0) }},
		{"DropRole", func(ctx ctxt, c *aerospike.Client) error { return c.DropRole(ctx, nil, "r") }},
		{"GrantPrivileges", func(ctx ctxt, c *aerospike.Client) error { return c.GrantPrivileges(ctx, nil, "r", may) }},
		{"RevokePrivileges", func(ctx ctxt, c *aerospike.Client) error { return c.RevokePrivileges(ctx, nil, "r", may) }},
		{"SetWhitelist", func(ctx ctxt, c *aerospike.Client) error { return c.SetWhitelist(ctx, nil, "r", []string{"10.0.0.1"}) }},
		{"SetQuotas", func(ctx ctxt, c *aerospike.Client) error { return c.SetQuotas(ctx, nil, "r", 1, 1) }},
		{"QueryRole", func(ctx ctxt, c *aerospike.Client) error { return second(c.QueryRole(ctx, nil, "r")) }},
		{"QueryRoles", func(ctx ctxt, c *aerospike.Client) error { return second(c.QueryRoles(ctx, nil)) }},
		{"Truncate", func(ctx ctxt, c *aerospike.Client) error { return c.Truncate(ctx, nil, "test", "s", nil) }},
	}
}

// R127: every method works, or says as the server does what it can't.
func TestSurfaceWorks(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Policies.Admin = &as.AdminPolicy{Timeout: patience} // a password's hash takes a second on a busy machine
	})
	fill(t, client, 10)
	secured := map[string]bool{}
	for _, m := range adminMethods("") {
		secured[m.name] = strings.HasSuffix(m.name, "User") || strings.Contains(m.name, "Role") || strings.Contains(m.name, "Privileges") ||
			m.name == "ChangePassword" || m.name == "SetWhitelist" || m.name == "SetQuotas" || m.name == "QueryUsers"
	}
	for _, m := range methods(t) {
		err := m.call(patient(t), client)
		var ours *aerospike.Error
		switch {
		case secured[m.name]:
			require.ErrorAs(t, err, &ours, m.name)
			want := 52
			if m.name == "ChangePassword" {
				want = 60 // the driver's own answer if it has no user
			}
			require.EqualValues(t, want, ours.Code, "%s: %v", m.name, err)
			require.Equal(t, m.name, ours.Op)
			require.False(t, ours.InDoubt)
		case err != nil && (strings.Contains(m.name, "UDF") || strings.Contains(m.name, "Execute") || m.name == "QueryAggregate"):
			// Lua: whatever the server can do of it, what it can't has a class.
			if m.name != "BatchExecute" { // whose errors are in its records
				require.ErrorAs(t, err, &ours, m.name)
			}
		case m.name == "SetXDRFilter": // of which a Community server knows nothing
			require.ErrorAs(t, err, &ours, m.name)
		default:
			require.NoError(t, err, m.name)
		}
	}
	idle(t, client)
}

// balanced sees to it that every permit that was ever taken is back. The client is
// closed, which waits for what goes on after its caller has gone.
func balanced(t *testing.T, client *aerospike.Client) {
	t.Helper()
	require.NoError(t, client.Close(patient(t)))
	snap := client.Snapshot()
	require.Zero(t, snap.Connection.Leases)
	for _, l := range snap.Lanes {
		require.Equal(t, l.Stats.Admitted, l.Stats.Ended.Total(), l.Node+" "+l.Lane)
	}
}

// short is the time of calls that get no answer.
const short = 100 * time.Millisecond
