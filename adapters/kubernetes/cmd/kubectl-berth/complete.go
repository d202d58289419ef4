package main

import (
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
)

// completePods completes the name of a pod of the namespace.
func (o *options) completePods(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := o.podNames(cmd, begun)
	if err != nil {
		cobra.CompErrorln(err.Error())
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) podNames(cmd *cobra.Command, begun string) ([]string, error) {
	namespace, err := o.namespace()
	if err != nil {
		return nil, err
	}
	config, err := o.kube.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods(namespace).List(cmd.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range pods.Items {
		if strings.HasPrefix(pods.Items[i].Name, begun) {
			names = append(names, pods.Items[i].Name)
		}
	}
	return names, nil
}
