package convert

import (
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/csi-translation-lib/plugins"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/model"
)

var volumesPath = specPath.Child("volumes")

// volumes are the claims that the pod uses, each once, and the disks that it
// names itself, as far as they count.
//
// Rules: kube-scheduler plugins/volumerestrictions/volume_restrictions.go
// (isVolumeConflict) and plugins/nodevolumelimits/csi.go
// (filterAttachableVolumes), 1.37.1.
func (p *problems) volumes(pod *v1.Pod) (claims []model.VolumeClaimRef, disks []model.Disk) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		at := volumesPath.Index(i)
		switch {
		case v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "":
			p.report(at.Child("persistentVolumeClaim", "claimName"), "must not be empty")
		case v.PersistentVolumeClaim != nil:
			name := at.Child("persistentVolumeClaim", "claimName")
			claims = p.addClaim(claims, name, pod.Namespace, v.PersistentVolumeClaim.ClaimName, false)
		case v.Ephemeral != nil:
			claims = p.addClaim(claims, at.Child("name"), pod.Namespace, ephemeral.VolumeClaimName(pod, v), true)
		default:
			if d := p.disk(at, v); len(d.Keys) > 0 || d.Driver != "" {
				disks = append(disks, d)
			}
		}
	}
	return claims, disks
}

func (p *problems) addClaim(claims []model.VolumeClaimRef, at *field.Path, namespace, name string, generated bool) []model.VolumeClaimRef {
	ref := model.VolumeClaimRef{ID: p.text(at, VolumeClaimID(namespace, name)), Name: p.text(at, name), Generated: generated}
	for i := range claims {
		if claims[i].ID == ref.ID {
			return claims
		}
	}
	return append(claims, ref)
}

// disk is a volume that the pod names itself. The keys say what makes two of
// them the same: the name of a GCE persistent disk, the ID of an EBS volume, the
// name of an iSCSI target, and one of the monitors, the pool and the image of an
// RBD. An EBS volume is for one pod even where it is only read. A volume that a
// CSI driver makes for the pod alone is a disk without a handle.
func (p *problems) disk(at *field.Path, v *v1.Volume) model.Disk {
	var d model.Disk
	switch {
	case v.GCEPersistentDisk != nil:
		d.Keys, d.ReadOnly = []string{"gce-pd/" + v.GCEPersistentDisk.PDName}, v.GCEPersistentDisk.ReadOnly
	case v.AWSElasticBlockStore != nil:
		d.Keys = []string{"aws-ebs/" + v.AWSElasticBlockStore.VolumeID}
	case v.ISCSI != nil:
		d.Keys, d.ReadOnly = []string{"iscsi/" + v.ISCSI.IQN}, v.ISCSI.ReadOnly
	case v.RBD != nil:
		d.ReadOnly = v.RBD.ReadOnly
		for _, monitor := range v.RBD.CephMonitors {
			d.Keys = append(d.Keys, fmt.Sprintf("rbd/%q/%q/%q", monitor, v.RBD.RBDPool, v.RBD.RBDImage))
		}
	case v.CSI != nil:
		d.Driver = v.CSI.Driver // counts nowhere, but its driver's changes wake the pod
	}
	for _, plugin := range builtIn {
		if !plugin.CanSupportInline(v) {
			continue
		}
		translated, err := plugin.TranslateInTreeInlineVolumeToCSI(klog.Logger{}, v, "")
		if err != nil {
			p.report(at, "%s", err)
			break
		}
		d.Driver, d.Handle, d.Plugin = plugin.GetCSIPluginName(), translated.Spec.CSI.VolumeHandle, plugin.GetInTreePluginName()
		break
	}
	d.Keys, d.Driver, d.Handle = p.texts(at, d.Keys), p.text(at, d.Driver), p.text(at, d.Handle)
	return d
}

// builtIn are the built-in plugins that drivers stand in for. For others the
// scheduler has a translation as well, and does not use it.
//
// Rule: kube-scheduler plugins/nodevolumelimits/utils.go, 1.37.1.
var builtIn = []plugins.InTreePlugin{
	plugins.NewAWSElasticBlockStoreCSITranslator(),
	plugins.NewGCEPersistentDiskCSITranslator(),
	plugins.NewAzureDiskCSITranslator(),
	plugins.NewOpenStackCinderCSITranslator(),
	plugins.NewPortworxCSITranslator(),
}

// standIn is the driver that stands in for the provisioner, empty for none.
func standIn(provisioner string) string {
	for _, plugin := range builtIn {
		if plugin.GetInTreePluginName() == provisioner {
			return plugin.GetCSIPluginName()
		}
	}
	return ""
}

// standInFor says which volume of which driver a volume of a built-in plugin is,
// where a driver stands in for that, and from which nodes with the driver it can
// be used. One that cannot be translated does not count, and cannot be used from
// those nodes: the scheduler cannot make up its mind about them.
func standInFor(m *model.Volume, v *v1.PersistentVolume) {
	for _, plugin := range builtIn {
		if !plugin.CanSupport(v) {
			continue
		}
		m.Driver, m.Plugin = plugin.GetCSIPluginName(), plugin.GetInTreePluginName()
		translated, err := plugin.TranslateInTreePVToCSI(klog.Logger{}, v.DeepCopy())
		if err != nil {
			m.StandInNodes = noNode()
			return
		}
		m.Handle = translated.Spec.CSI.VolumeHandle
		var seen problems // what is wrong with the terms has been reported
		if nodes := seen.volumeNodes(translated.Spec.NodeAffinity); !reflect.DeepEqual(nodes, m.Nodes) {
			m.StandInNodes = nodes
		}
		return
	}
}
