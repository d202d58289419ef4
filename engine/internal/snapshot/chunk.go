package snapshot

import (
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

const (
	chunkBits = 6
	chunkSize = 1 << chunkBits
	chunkMask = chunkSize - 1
)

// chunk is chunkSize places. In the masks bit k speaks of place k.
type chunk struct {
	tok   *token
	owned uint64            // infos that belong to tok alone
	has   [listKinds]uint64 // infos that belong on the list of the kind
	infos [chunkSize]*extpoints.NodeInfo
	// images are the values of images.epoch at which the image states of the infos
	// were last compared with the counts; 0: never.
	images [chunkSize]uint32
}

// take copies what is at place from of the other chunk to place to of c.
func (c *chunk) take(to int, other *chunk, from int) {
	c.infos[to] = other.infos[from]
	c.images[to] = other.images[from]
	if other.tok == c.tok {
		c.owned |= other.owned >> from & 1 << to
	}
	for kind := range c.has {
		c.has[kind] |= other.has[kind] >> from & 1 << to
	}
}

// The kinds of list, and what puts a node on them: workloads with affinity of
// any kind, workloads with required anti-affinity.
const (
	withAffinity = iota
	withRequiredAntiAffinity

	listKinds
)

// nodeList is a list of nodes in visiting order, made from the masks of the
// chunks when somebody asks for it: its readers look at every node on it
// anyway, and patches, of which there may be many between two readers, pay
// nothing. All Views that share a nodeList have the same nodes on it, the same
// pointers; a View on which that changes takes a new one.
type nodeList struct {
	made atomic.Pointer[[]*extpoints.NodeInfo]
}
