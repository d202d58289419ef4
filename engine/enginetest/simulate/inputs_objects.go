package simulate

import "maps"

// tend lets those at work who look after objects: whoever binds claims at once,
// makes the claims that are made for workloads, and cleans up.
func (s *sim) tend() string {
	return s.tendStorage() + s.tendDevices()
}

func inputTend(s *sim) string {
	if what := s.tend(); what != "" {
		return "tend:" + what
	}
	return ""
}

// inputTell tells the engine of things that happened, in any order, and of some
// again.
func inputTell(s *sim) string {
	what := "told:"
	for range 1 + s.rng.IntN(4) {
		untold := sortedRefs(maps.Keys(s.world.facts.untold), nil)
		if len(untold) > 0 && s.chance(90) {
			what += s.tellOf(pickOf(s, untold))
		} else if again := s.world.facts.refs(); len(again) > 0 {
			what += s.tellOf(pickOf(s, again)) + " again"
		}
	}
	if what == "told:" {
		return ""
	}
	return what
}
