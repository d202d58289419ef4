package helper

import "strings"

// NormalizedImageName is the name under which a node's images are kept: an
// image without a tag means its ":latest". A colon before the last slash
// belongs to the registry's address and is no tag.
//
// Rule: kube-scheduler plugins/imagelocality/image_locality.go, 1.37.1.
func NormalizedImageName(name string) string {
	if strings.LastIndexByte(name, ':') <= strings.LastIndexByte(name, '/') {
		return name + ":latest"
	}
	return name
}
