package extpoints

// SlotPlugin is implemented by plugins of Filter and Score that look at other nodes, and of the
// node that they are asked about read nothing but [NodeInfo].Slot. Then the engine can ask about
// many nodes at once, and remembers what the other plugins said of them (engine.Config.FastPath).
// It does so in cycles in which the plugin is not node-local, see [NodeLocalPlugin]; where it is
// neither, all plugins are asked about every node.
//
// The methods are called after PreFilter, on the goroutine of the cycle; they must not block, nor
// change the state. Package extpointstest has the kit that checks them: part Slots of TestPlugin.
type SlotPlugin interface {
	Plugin
	// FilterSlots says what Filter would say of the nodes in the slots, of which there are at
	// most 64: bit i is set where it would accept the one in slots[i]. Where it would not, it
	// would reject it, and never fail. Numbers of no node may be among the slots, as long as
	// they are less than [Index].Slots; what it says of those does not matter. ok is false where
	// it cannot say, as when PreFilter has not prepared for it: the nodes are then asked about
	// one by one.
	FilterSlots(s *CycleState, w *WorkloadInfo, slots []int32) (accepted uint64, ok bool)
	// ScoreSlots is PreScore, Score and NormalizeScore in one, about the nodes in the slots, which
	// are all that are feasible: it puts what the node in slots[i] would be given in the end into
	// scores[i]. It returns Skip where PreScore would, and anything else but Success where it
	// cannot say.
	ScoreSlots(s *CycleState, w *WorkloadInfo, slots []int32, scores []int64) *Status
}
