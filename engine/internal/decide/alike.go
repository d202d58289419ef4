package decide

// AlikeKey appends what the rejection depends on of a workload by itself that has found no node, see
// [framework.Framework.AlikeKey]. It reports false where the rejection says nothing about others:
// where room is made or kept for the workload, where it keeps away from nodes, and where it was PreFilter
// that had the say.
func (a *Attempt) AlikeKey(key []byte) ([]byte, bool) {
	c := a.Lone()
	if c == nil || c.Diagnosis == nil || c.Binding.Node != "" || c.pre.Status != nil || c.pre.Nodes != nil ||
		c.Info.Nominated != "" || c.Nominating.Nominate != "" || c.View.FailedStarts().Any(c.Info.ID) {
		return key, false
	}
	asked := a.Requests()
	if len(asked.Evictions)+len(asked.Unnominations)+len(asked.Deallocations)+len(asked.Withdrawals)+len(asked.Activations) > 0 {
		return key, false
	}
	return c.Framework.AlikeKey(c.State, c.Info, key)
}
