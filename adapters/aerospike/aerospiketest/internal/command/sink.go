package command

import "github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"

// A Sink takes an answer that comes in parts.
type Sink interface {
	// Flush sends whole frames that hold so many records more and returns an
	// empty buffer to go on with. It may wait. After an error the command ends.
	Flush(b []byte, records int) ([]byte, error)
	// Result is told the code of every record of a batch.
	Result(c wire.Code)
}

// frameSize is how many bytes of an answer are gathered before they are sent.
const frameSize = 64 << 10

// A stream gathers messages in frames.
type stream struct {
	sink    Sink
	out     []byte
	at      int // where the open frame starts; -1 if none is open
	records int // in out
}

// open makes sure that a frame is open.
func (s *stream) open() {
	if s.at < 0 {
		s.at = len(s.out)
		s.out = wire.AppendFrame(s.out, wire.TypeMessage)
	}
}

// close ends the open frame.
func (s *stream) close() {
	if s.at >= 0 {
		wire.EndFrame(s.out, s.at)
		s.at = -1
	}
}

// flush sends what there is.
func (s *stream) flush() error {
	s.close()
	if len(s.out) == 0 {
		return nil
	}
	var err error
	s.out, err = s.sink.Flush(s.out, s.records)
	s.records = 0
	return err
}

// last ends the answer. The rest of it stays in out.
func (s *stream) last(c wire.Code) []byte {
	s.close()
	return wire.AppendLast(s.out, c)
}
