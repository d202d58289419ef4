// Package volumebinding is the plugin VolumeBinding: a workload goes to a node
// from which it can use the volumes of all its claims, and claims without a
// volume are given one when the node is chosen.
//
// A claim that is bound has its volume, and the volume says from which nodes it
// can be used. A claim of a class that binds at once, and has no volume yet, is
// somebody else's to bind: until then the workload goes nowhere. The other
// claims are the plugin's:
//
//   - It looks for a volume that is there already: the one that is kept for the
//     claim, or else the smallest that is large enough, free, otherwise as the
//     claim wants it, and usable from the node. Of several claims the one that
//     asks for least chooses first.
//   - Where there is none it asks whether one can be made: the class must have a
//     provisioner, allow the node, and, if the provisioner keeps track of its
//     capacity, have room for one seen from the node. A claim for which a volume
//     is being made for a node already is tied to that node.
//
// Among the nodes that will do, those score higher on which the volumes chosen
// fit the claims best, or more room is left for new ones; see [Args].Shape.
//
// Reserve writes the decision into the binding: volumes with the claim that they
// are for, and claims with the node for which a volume is to be made. From then
// on views show it, so the plugin keeps no books of its own. PreBind hands it to
// the orchestrator, if that is an [extpoints.VolumeBinder], and waits.
package volumebinding
