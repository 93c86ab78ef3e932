// Package aerospiketest is an Aerospike cluster inside the test process, in the
// manner of net/http/httptest: it speaks the wire protocol, so the real driver
// connects to it over loopback and no container is needed.
//
//	srv := aerospiketest.NewServer(t) // or NewServer(t, aerospiketest.Config{Nodes: 3})
//
// [Server.Hosts] has the addresses for the driver. The client should be closed
// before the server: what t.Cleanup runs last was registered first, so start the
// server first. Give the driver's ClientPolicy a Timeout of a few seconds, and
// keep a reference to the client for as long as it works.
//
// # Making things go wrong
//
// [Server.Inject] puts a [Fault] to work: delays, result codes, resets, answers
// that never come or come by half, for some kinds of commands, nodes or sets, for
// some number of times. [Server.Hold] sets up a [Gate] at which commands stop
// until the test lets them pass, and which tells the test when they are there, so
// that no test has to sleep. [Capacity] makes a node serve so many commands at a
// time. [Node.Pause], [Node.Kill] and [Node.Restart] take nodes away and bring
// them back; [Server.Advance] lets records expire. [Server.Stats] has what
// arrived. A command meets these in order: pause, faults before it, gates,
// capacity, its work, faults after it, the answer.
//
// # What it does
//
// Any number of nodes with a partition map that drivers follow. Single records:
// put, get, header, exists, delete, touch, add, append, prepend, operate, with
// record-exists and generation policies, times to live, stored keys and the type
// checks of the server. Batches of reads, writes and deletes, old form and new.
// Scans, and queries without a filter, by partition, with resumption, limits and
// rates. Info commands that drivers and tools send, truncation among them.
// Secondary indexes can be defined, but not queried.
//
// The server was checked against recordings of a real Community server 8.1; see
// PROVENANCE.md.
//
// # What it does not do, and how it answers then
//
// Operations on lists, maps, bits and HLL sketches, expressions and filters, UDFs,
// queries by index and background jobs are answered with CodeUnsupported (16), or
// CodeParameter (4) when they are malformed; in a batch, record by record. Login
// is answered as by a server without security (52), durable deletes as by a
// Community server (25). GeoJSON is stored and returned, but only roughly checked,
// and without cells. Requests may be compressed, answers never are. There is no
// TLS, strong consistency, XDR, rack, eviction or persistence.
//
// All nodes share one store and each serves any record at once: there is no
// replication to lag and no migration, and a node that is killed takes no records
// with it. Only scans look at who owns a partition.
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
