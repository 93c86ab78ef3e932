// Package aerospiketest is an Aerospike cluster inside the test process, in the
// manner of net/http/httptest: it speaks the wire protocol, so the real driver
// connects to it over loopback and no container is needed.
//
//	srv := aerospiketest.NewServer(t) // or NewServer(t, aerospiketest.Config{Nodes: 3})
//	hosts, err := aerospike.NewHosts(srv.Hosts()...)
//	client, err := aerospike.NewClientWithPolicyAndHost(policy, hosts...)
//	t.Cleanup(client.Close)
//
// The client should be closed before the server: what t.Cleanup runs last was
// registered first, so start the server first. Give the driver's ClientPolicy a
// Timeout of a few seconds, and keep a reference to the client for as long as it
// works.
//
// # Making things go wrong
//
// [Server.Inject] puts a [Fault] to work: delays, result codes, resets, answers
// that never come or come by half, for some kinds of commands, nodes or sets, for
// some number of times. [Server.Hold] sets up a [Gate] at which commands stop
// until the test lets them pass, and which tells the test when they are there, so
// that no test has to sleep. [Capacity] makes a node serve so many commands at a
// time. [Node.Pause], [Node.Kill] and [Node.Restart] take nodes away and bring
// them back, [Server.AddNode] and [Node.Remove] change how many there are, and
// [Server.MovePartitions] and [Server.SetUnavailable] which of them has what;
// [Server.Advance] lets records expire. A command meets these in order: pause,
// faults before it, gates, capacity, its work, faults after it, the answer. New
// connections can be refused, delayed ([Node.SetAccept]) or held at a gate
// ([KindConnect]), before their handshake and login.
//
// [Server.Record] keeps a log of commands, with the timeouts that clients sent and
// the answers that they got; [Server.Stats] has counters.
//
// # What it does
//
// Any number of nodes with a partition map that drivers follow. Single records:
// put, get, header, exists, delete, touch, add, append, prepend, operate, with
// record-exists and generation policies, times to live, stored keys and the type
// checks of the server. All operations on lists and maps, with contexts, orders,
// write flags and return types, and on blobs and HyperLogLog sketches. Batches of
// reads, writes and deletes, old form and new. Expressions: filters of all commands,
// and operations that read and write with them. Scans and queries by partition,
// with resumption, limits and rates. Secondary indexes on numbers, strings, blobs
// and GeoJSON, in lists, map keys and map values, with contexts. Functions in Lua, of
// records, alone, in batches and in the background, and of streams, with their
// modules; see below. Background jobs, with their status; scans, queries and jobs can
// be shown and aborted. Info commands that drivers and tools send, truncation among
// them. Racks, and TLS. Users, roles and sessions, if [Config.Security] asks for them.
//
// The server was checked against recordings of a real Community server 8.1; see
// PROVENANCE.md.
//
// # Functions
//
// Modules in Lua are registered by clients, or by [Server.RegisterLua], and run:
// with records, lists, maps, bytes, aerospike:create, update, remove, exists and log,
// and the libraries string, table and math. [Server.RegisterFunc] puts a function in
// Go in the place of one in Lua, which needs no Lua where a test only wants an
// answer, a failure, or to know that it was called. Both run under the lock of the
// record's partition.
//
// Integers and floats are apart, as in Lua 5.4, but the language is that of Lua 5.1:
// there is no integer division, there are no bitwise operators, and a float that
// is whole is no other key of a table than the integer. A call in Lua is bounded to
// five million instructions, two seconds and 64 MiB of strings and collections; of an
// aggregation, each record's part of it is bounded so. There are no files, processes,
// coroutines and environment variables, and patterns that could take too long are
// refused. Each call has a state of its own, so global variables don't outlive it,
// as they may on a real server. A result or bin that is a Lua table is nil.
//
// # What it does not do, and how it answers then
//
// Login is answered as by a server without security (52) unless there are users, and
// durable deletes as by a Community server (25). Quotas are kept, not enforced, and
// there is no login by certificate.
// GeoJSON is stored, returned, queried and compared by expressions, but without
// cells. Regular expressions in expressions know no references back.
// Requests may be compressed, answers never are. There is no strong consistency,
// XDR, eviction or persistence. Nothing is indexed: a query looks at every record,
// so an index is never behind.
//
// All nodes share one store and each serves any record at once, as a real node
// does that passes commands on: there is no replication to lag and no migration,
// and a node that is killed takes no records with it. Only scans, queries and jobs
// look at who owns a partition, and nodes that are strict; see [Node.SetStrict].
//
// # When not to use it
//
// It is no measure of a real server's speed or memory, and no proof that an
// application's Lua, filters or collections are right: test those against a real
// server. For unit tests of code that merely needs some records back, a fake of the
// application's own interface is simpler.
//
// # Costs
//
// A Get of an integer bin does not allocate in the server
// (TestExecutorReadOfAnIntegerDoesNotAllocate) and costs it two system calls to
// read and one to write. A server of three nodes starts and closes in less than
// half a millisecond (BenchmarkStart).
package aerospiketest
