package interpodaffinity

import "github.com/berth-project/berth/extpoints"

// NodeLocal implements [extpoints.NodeLocalPlugin]: so it is for workloads that neither a term of
// their own nor one of those on nodes concerns.
func (p *InterPodAffinity) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	if _, filters := prepared.Get(s); filters {
		return key, false
	}
	if len(preferred(w.Affinity)) > 0 || len(preferred(w.AntiAffinity)) > 0 {
		return key, false // to find out that nobody is meant costs what counting them does
	}
	return key, prepare(s.View(), w) == nil && p.weigh(s.View(), w) == nil
}
