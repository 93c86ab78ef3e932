package aerospiketest

import "time"

// A Served is a command as a [Recorder] saw it. The zero value is of no use.
type Served struct {
	// Node is the index of the node.
	Node int
	// Kind is the kind of the command, one bit. A malformed message has none, and
	// is in no log.
	Kind Kind
	// Namespace and Set are those of the command. A batch counts as being for
	// those of its first record.
	Namespace, Set string
	// Digest is that of the record, or zero if the command is not for one record.
	Digest [20]byte
	// Records is how many records a batch asks for.
	Records int
	// Timeout is what the client said it would wait for an answer; 0 is nothing.
	// SocketTimeout is the same for a scan or a query.
	Timeout, SocketTimeout time.Duration
	// Task is the number that a scan, a query or a background job was given by
	// the client.
	Task uint64
	// Info are the three bytes of flags of the message's header.
	Info [3]byte
	// Generation and TTL are those of the message's header.
	Generation, TTL uint32
	// Text is the text of an info command, one line for each name, or the first
	// 1024 bytes of it.
	Text string
	// Done reports whether the server has finished with the command, and
	// Answered whether it has sent the answer, or its last part. A command that is
	// held, stalled or paused is not done; one that was swallowed, reset or given
	// up by its client is done and not answered.
	Done, Answered bool
	// Code is the result code of an answer to a data command.
	Code Code
}

// maxText bounds Served.Text.
const maxText = 1024

// served describes the command that is being served.
func (c *conn) served() Served {
	s := Served{Node: c.node.index, Kind: c.cmd.kind, Namespace: string(c.cmd.namespace), Set: string(c.cmd.set)}
	switch c.cmd.kind {
	case KindInfo:
		s.Text = string(c.body[:min(len(c.body), maxText)])
		return s
	case KindAdmin:
		return s
	default:
	}
	m := &c.msg
	copy(s.Digest[:], m.Digest)
	s.Info = [3]byte{m.Info1, m.Info2, m.Info3}
	s.Generation, s.TTL = m.Generation, m.TTL
	s.Timeout = time.Duration(m.Timeout) * time.Millisecond
	s.SocketTimeout = time.Duration(m.SocketTimeout()) * time.Millisecond
	s.Task = m.Job()
	s.Records = m.BatchSize()
	return s
}
