package main

// part is a piece of the run with a name of its own.
type part struct {
	name string
	run  func(o *opened, rounds int, r *report) error
}

// parts are all of them, in the order of the table.
func parts() []part {
	return []part{
		familyPart("admitted", admitted),
		familyPart("refused", refused),
		familyPart("nested", nested),
		familyPart("executor", executor),
		familyPart("waiting", waiting),
		familyPart("neighbours", neighbours),
		familyPart("pool-neighbours", poolNeighbours),
		familyPart("waiting-neighbours", waitingNeighbours),
		familyPart("telemetry", telemetry),
		familyPart("signals", signals),
		{"adapter", adapter},
		{"article", article},
	}
}

// familyPart measures a family.
func familyPart(name string, open func(*opened) (*family, error)) part {
	return part{name, func(o *opened, rounds int, r *report) error {
		f, err := open(o)
		if err != nil {
			return err
		}
		r.lines = append(r.lines, f.lines(rounds)...)
		return nil
	}}
}
