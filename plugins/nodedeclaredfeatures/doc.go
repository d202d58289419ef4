// Package nodedeclaredfeatures is the plugin NodeDeclaredFeatures: a workload
// that needs features goes to nodes that declare all of them.
package nodedeclaredfeatures
