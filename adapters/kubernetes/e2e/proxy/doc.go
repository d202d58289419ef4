// Package proxy stands between a scheduler and the API server and makes trouble:
// it delays requests, breaks connections, cuts watches, sends a write twice, loses
// the answer to a write that was done, and answers 409, 429, 500 or what it is told
// to. It does so by rules, each for certain verbs and resources and with a certain
// chance, and counts what it has done.
//
//	p, err := proxy.Start(plane.Config(controlplane.AdminUser), seed)
//	defer p.Close()
//	p.SetRules(
//		proxy.Rule{Verbs: []string{"create"}, Resources: []string{"pods/binding"}, Chance: 0.1, Do: proxy.Lose()},
//		proxy.Rule{Verbs: []string{"patch"}, Chance: 0.2, Do: proxy.Answer(http.StatusConflict)},
//	)
//	err = p.WriteCA(caFile)
//	err = plane.WriteKubeconfig(path, controlplane.SchedulerUser, p.URL(), caFile)
//
// Verbs and resources are those of the API server (list and watch are verbs;
// subresources are written as in "pods/binding"). Who the client is is passed on.
package proxy
