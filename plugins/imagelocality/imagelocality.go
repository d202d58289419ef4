package imagelocality

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "ImageLocality"

// Between these amounts of images, the upper one for each image of the
// workload, the score grows from 0 to the largest.
const (
	megabyte    int64 = 1024 * 1024
	minImages         = 23 * megabyte
	maxPerImage       = 1000 * megabyte
)

// wanted holds, from PreScore to Score, the normalised names of the workload's
// images.
var wanted = extpoints.NewStateKey[[]string](Name + "/wanted")

// ImageLocality is the plugin. It has no state.
//
// Rules: kube-scheduler plugins/imagelocality/image_locality.go, 1.37.1.
type ImageLocality struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*ImageLocality, error) {
	return &ImageLocality{}, nil
}

// Name returns the plugin's name.
func (*ImageLocality) Name() string { return Name }

// PreScore normalises the image names once instead of once a node, as the
// reference does. It never says Skip: there is nothing to skip in the
// reference, which has no PreScore here.
func (*ImageLocality) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	if len(w.Images) > 0 {
		wanted.Set(s, normalized(w.Workload))
	}
	return nil
}

func normalized(w *model.Workload) []string {
	names := make([]string, len(w.Images))
	for i, image := range w.Images {
		names[i] = helper.NormalizedImageName(image)
	}
	return names
}

// Score sums up the sizes of the images that the node has, each scaled down by
// the share of all nodes that have it: an image that is rare should not draw
// every workload to the same few nodes.
//
// While room is made for a group no image counts: the copy of its snapshot that
// kube-scheduler changes for that does not know on how many nodes an image is
// (backend/cache/snapshot.go StartMutations, 1.37.1).
func (*ImageLocality) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	if len(w.Images) == 0 || s.MakingRoom() {
		return extpoints.MinScore, nil
	}
	var sum int64
	if len(node.Images) > 0 {
		names, ok := wanted.Get(s)
		if !ok {
			names = normalized(w.Workload)
		}
		total := s.View().Nodes().Len()
		for _, name := range names {
			if image, ok := node.Images[name]; ok {
				sum += scaled(image, total)
			}
		}
	}
	return rate(sum, len(w.Images)), nil
}

func scaled(image extpoints.ImageState, total int) int64 {
	return int64(float64(image.Size) * (float64(image.NumNodes) / float64(total)))
}

// rate maps the sum to a score.
func rate(sum int64, images int) int64 {
	most := maxPerImage * int64(images)
	sum = min(max(sum, minImages), most)
	return extpoints.MaxScore * (sum - minImages) / (most - minImages)
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the images.
func (*ImageLocality) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	c := helper.Canon(key)
	for _, image := range w.Images {
		c = c.Str(image)
	}
	return c, true
}

// Sign signs the images; the same one twice counts twice.
func (*ImageLocality) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{{
		Key: helper.SignImages, Value: string(helper.Canon(nil).Set(normalized(w))),
	}}, nil
}

var (
	_ extpoints.PreScorePlugin  = (*ImageLocality)(nil)
	_ extpoints.ScorePlugin     = (*ImageLocality)(nil)
	_ extpoints.NodeLocalPlugin = (*ImageLocality)(nil)
	_ extpoints.SignPlugin      = (*ImageLocality)(nil)
)
