package main

// neighbours is what things cost beside work that never gives up a processor.
func neighbours(o *opened) (*family, error) {
	f := &family{name: "neighbours", modes: []mode{neighbour()}}
	f.add(nameFloor, floor())
	if err := f.addOurs(o.call); err != nil {
		return nil, err
	}
	if err := f.addRivals(o, many); err != nil {
		return nil, err
	}
	f.rows = []row{
		versus(nameLimiter, nameFloor),
		versus(nameLane, nameFloor),
		versus(nameLimiter, nameSync),
		versus(nameLimiter, nameFailsafe),
		versus(nameLimiter, nameLimits),
	}
	return f, nil
}

// poolNeighbours is the same for pools of workers.
func poolNeighbours(o *opened) (*family, error) {
	f := &family{name: "pool-neighbours", modes: []mode{neighbour()}}
	if err := f.addPools(o); err != nil {
		return nil, err
	}
	f.rows = []row{
		versus(nameGo, namePondGo),
		versus(nameDo, namePondWait),
		versus(nameDo, nameWorkersAsk),
	}
	return f, nil
}

// waitingNeighbours is the same where most callers wait for a permit.
func waitingNeighbours(o *opened) (*family, error) {
	f := &family{name: "waiting-neighbours", modes: []mode{besideLeast(crowded())}}
	if err := f.addWaiting(o); err != nil {
		return nil, err
	}
	f.rows = []row{
		versus(nameLane, nameSync),
		versus(nameLane, nameChannel),
		versus(nameLane, nameFailsafe),
		versus(nameLane, nameLimits),
	}
	return f, nil
}
