package nodevolumelimits

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// checkLimits rejects the node where a driver would have too many volumes.
//
// The specification is checkLimits in twin_test.go: make the set of volumes on
// the node and count. Here the volumes are not looked up where all that is used
// or attached there would fit if no two were the same and all were of that
// driver, which on most nodes is so. What is wrong with a claim on the node is
// found before that all the same.
func (st *state) checkLimits(storage extpoints.Storage, node *extpoints.NodeInfo, on *model.NodeStorage) *extpoints.Status {
	atMost := 0
	for _, w := range node.Workloads {
		if len(w.VolumeClaims) > 0 {
			if status := checkClaims(storage, w.Workload, false); status != nil {
				return status
			}
		}
		atMost += len(w.VolumeClaims) + len(w.Disks)
	}
	attachments := storage.Attachments(node.Node.Name)
	atMost += len(attachments)
	for i := range on.Drivers {
		d := &on.Drivers[i]
		if d.MaxVolumes == nil {
			continue
		}
		wanted := st.count(d.Name)
		if wanted == 0 || atMost+wanted <= int(*d.MaxVolumes) {
			continue
		}
		c := count{storage: storage, driver: d.Name, atMost: atMost}
		if !c.fits(st, node, attachments, int(*d.MaxVolumes)) {
			return tooMany
		}
	}
	return nil
}

// count is how many volumes of the driver the workload wants.
func (st *state) count(driver string) (n int) {
	for i := range st.volumes {
		if st.volumes[i].driver == driver {
			n++
		}
	}
	return n
}

// count counts the volumes of one driver on one node, where there is a
// NodeStorage and so everything counts.
type count struct {
	storage extpoints.Storage
	driver  string
	atMost  int // how many of all drivers there can be
}

// fits reports whether there is room on the node for what the workload wants of
// the driver.
func (c *count) fits(st *state, node *extpoints.NodeInfo, attachments []*model.VolumeAttachment, limit int) bool {
	used := c.used(node)
	added := 0
	for i := range st.volumes {
		if v := &st.volumes[i]; v.driver == c.driver && !holds(used, v.volume) {
			added++
		}
	}
	// Where it uses nothing but what is used there already, there is room even
	// on a node that has too many.
	return added == 0 || len(used)+c.left(attachments, used)+added <= limit
}

// used are the volumes that workloads on the node use, sorted, each once.
func (c *count) used(node *extpoints.NodeInfo) []volume {
	list := make([]volume, 0, c.atMost)
	for _, w := range node.Workloads {
		if len(w.VolumeClaims)+len(w.Disks) == 0 {
			continue
		}
		eachVolume(c.storage, w.Workload, func(v volume, _ bool) {
			if v.driver == c.driver {
				list = append(list, v)
			}
		})
	}
	return distinct(list)
}

// left is how many volumes are attached and not in use.
func (c *count) left(attachments []*model.VolumeAttachment, used []volume) int {
	var list []volume
	for _, a := range attachments {
		if a.Driver != c.driver {
			continue
		}
		if v := attached(c.storage, a); v.driver != "" && !holds(used, v) {
			list = append(list, v)
		}
	}
	return len(distinct(list))
}

func distinct(list []volume) []volume {
	slices.SortFunc(list, compareVolumes)
	return slices.Compact(list)
}

func holds(sorted []volume, v volume) bool {
	_, found := slices.BinarySearchFunc(sorted, v, compareVolumes)
	return found
}
