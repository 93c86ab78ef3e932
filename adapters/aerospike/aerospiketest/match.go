package aerospiketest

import (
	"errors"
	"fmt"
	"slices"
)

// A Match says which commands a [Fault] or a [Gate] is for. The zero value is
// every data command on every node.
type Match struct {
	// Nodes are the indexes of the nodes. None means every node.
	Nodes []int
	// Kinds are the kinds of commands. Zero means KindsData.
	Kinds Kind
	// Namespace, unless empty, is the namespace that the command must be for. A
	// batch counts as being for that of its first record; info and admin
	// commands are for none.
	Namespace string
	// Set is like Namespace for the set.
	Set string
}

// A target is a command as faults and gates see it.
type target struct {
	node           int
	kind           Kind
	writes         bool
	namespace, set []byte // valid while the command runs
}

func (m *Match) matches(c *target) bool {
	kinds := m.Kinds
	if kinds == 0 {
		kinds = KindsData
	}
	return kinds&c.kind != 0 &&
		(len(m.Nodes) == 0 || slices.Contains(m.Nodes, c.node)) &&
		(m.Namespace == "" || m.Namespace == string(c.namespace)) &&
		(m.Set == "" || m.Set == string(c.set))
}

// check reports every fault of a match in a cluster of n nodes. known are the kinds that
// whoever asks has to do with, of which a match must be for one at least.
func (m *Match) check(n int, known Kind) error {
	var errs []error
	if m.Kinds != 0 && m.Kinds&KindsAll != 0 && m.Kinds&known == 0 {
		errs = append(errs, fmt.Errorf("aerospiketest: Match.Kinds is %v, of which only gates know", m.Kinds))
	}
	for _, i := range m.Nodes {
		if i < 0 || i >= n {
			errs = append(errs, fmt.Errorf("aerospiketest: Match.Nodes has %d, want 0 to %d", i, n-1))
		}
	}
	if m.Kinds&^KindsAll != 0 {
		errs = append(errs, fmt.Errorf("aerospiketest: Match.Kinds is %#x, which has unknown bits", uint32(m.Kinds)))
	}
	return errors.Join(errs...)
}
