package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// slowLock is a lock that takes its time to answer.
type slowLock struct {
	resourcelock.Interface
	takes  time.Duration
	fails  error
	holder string // as Get says
	seen   func() // called while it works
}

func (s *slowLock) Identity() string { return "me" }

func (s *slowLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: s.holder}, nil, s.fails
}

func (s *slowLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return s.Update(ctx, r)
}

func (s *slowLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	time.Sleep(s.takes)
	if s.seen != nil {
		s.seen()
	}
	return s.fails
}

func TestLease(t *testing.T) {
	const duration = 15 * time.Second
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
	nobodys := resourcelock.LeaderElectionRecord{}
	isLost := func(l *lease) bool {
		select {
		case <-l.lost:
			return true
		default:
			return false
		}
	}
	tests := []struct {
		name string
		do   func(t *testing.T, lock *slowLock, l *lease)
		held bool
		lost bool
	}{
		{"never won", func(t *testing.T, lock *slowLock, l *lease) {
			lock.holder = "another"
			_, _, _ = l.Get(t.Context())
			time.Sleep(time.Hour)
		}, false, false},
		{"could not be won", func(t *testing.T, lock *slowLock, l *lease) {
			lock.fails = errors.New("conflict")
			_ = l.Update(t.Context(), mine)
		}, false, false},
		{"won", func(t *testing.T, _ *slowLock, l *lease) { _ = l.Create(t.Context(), mine) }, true, false},
		{"renewed", func(t *testing.T, _ *slowLock, l *lease) {
			for range 10 {
				_ = l.Update(t.Context(), mine)
				time.Sleep(10 * time.Second)
			}
		}, true, false},
		{"not renewed", func(t *testing.T, _ *slowLock, l *lease) {
			_ = l.Update(t.Context(), mine)
			time.Sleep(duration)
			synctest.Wait()
		}, false, true},
		{"renewals fail", func(t *testing.T, lock *slowLock, l *lease) {
			_ = l.Update(t.Context(), mine)
			lock.fails = errors.New("timeout")
			for range 8 {
				time.Sleep(2 * time.Second)
				_ = l.Update(t.Context(), mine)
				_, _, _ = l.Get(t.Context())
			}
			synctest.Wait()
		}, false, true},
		{"it counts from when the renewal was sent", func(t *testing.T, lock *slowLock, l *lease) {
			lock.takes = 4 * time.Second
			_ = l.Update(t.Context(), mine)
			time.Sleep(duration - 4*time.Second)
			synctest.Wait()
		}, false, true},
		{"an answer that is older than the lease", func(t *testing.T, lock *slowLock, l *lease) {
			lock.takes = duration + time.Second
			_ = l.Update(t.Context(), mine)
			synctest.Wait()
		}, false, true},
		{"another has it", func(t *testing.T, lock *slowLock, l *lease) {
			_ = l.Update(t.Context(), mine)
			lock.holder = "another"
			_, _, _ = l.Get(t.Context())
		}, false, true},
		{"ours, as it should be", func(t *testing.T, lock *slowLock, l *lease) {
			_ = l.Update(t.Context(), mine)
			lock.holder = "me"
			_, _, _ = l.Get(t.Context())
		}, true, false},
		{"given back, and stopped before others know", func(t *testing.T, lock *slowLock, l *lease) {
			_ = l.Update(t.Context(), mine)
			lock.seen = func() {
				if l.held() {
					t.Error("it was still held while it was given back")
				}
			}
			_ = l.Update(t.Context(), nobodys)
		}, false, true},
		{"won again", func(t *testing.T, lock *slowLock, l *lease) {
			_ = l.Update(t.Context(), mine)
			lock.holder = "another"
			_, _, _ = l.Get(t.Context())
			_ = l.Update(t.Context(), mine)
		}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lock := &slowLock{}
				l := newLease(lock, duration)
				tt.do(t, lock, l)
				if l.held() != tt.held || isLost(l) != tt.lost {
					t.Errorf("held %t, want %t; lost %t, want %t", l.held(), tt.held, isLost(l), tt.lost)
				}
			})
		})
	}
}

// Clients write only while they may, and read always; what is about leader election
// is always written.
func TestClientsOfWhoDoesNotLead(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method)
		w.Header().Set("Content-Type", "application/json")
		kind := `"kind":"Pod","apiVersion":"v1"`
		if r.Method == http.MethodGet {
			kind = `"kind":"PodList","apiVersion":"v1"`
		}
		_, _ = io.WriteString(w, "{"+kind+"}")
	}))
	defer server.Close()
	may := false
	clients, err := newClients(&rest.Config{Host: server.URL}, func() bool { return may })
	if err != nil {
		t.Fatal(err)
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"}}
	write := func() (main, events, election error) {
		_, main = clients.main.CoreV1().Pods("n").Create(t.Context(), pod, metav1.CreateOptions{})
		events = clients.events.CoreV1().Pods("n").Delete(t.Context(), "p", metav1.DeleteOptions{})
		_, election = clients.election.CoreV1().Pods("n").Update(t.Context(), pod, metav1.UpdateOptions{})
		return main, events, election
	}

	main, events, election := write()
	if !errors.Is(main, errNotLeading) || !errors.Is(main, context.Canceled) || !errors.Is(events, errNotLeading) || election != nil {
		t.Errorf("not leading: %v, %v, %v", main, events, election)
	}
	if _, err := clients.main.CoreV1().Pods("n").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("not leading, reading: %v", err)
	}
	may = true
	if main, events, election := write(); main != nil || events != nil || election != nil {
		t.Errorf("leading: %v, %v, %v", main, events, election)
	}
	if want := "PUT GET POST DELETE PUT"; strings.Join(got, " ") != want {
		t.Errorf("the server got %v, want %s", got, want)
	}
}

// The connection is as the file says, and --master is before the kubeconfig's server.
func TestConnect(t *testing.T) {
	kubeconfig := t.TempDir() + "/kubeconfig"
	writeFile(t, kubeconfig, `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://of.kubeconfig"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`)
	c, err := parsed(t, "--config="+file(t, `clientConnection: {kubeconfig: `+kubeconfig+`, qps: 3, burst: 4, contentType: application/json, acceptContentTypes: "a,b"}`)).load()
	if err != nil {
		t.Fatal(err)
	}
	for master, want := range map[string]string{"": "https://of.kubeconfig", "https://of.flag": "https://of.flag"} {
		got, err := connect(&c.Effective.ClientConnection, master)
		if err != nil {
			t.Fatal(err)
		}
		if got.Host != want || got.QPS != 3 || got.Burst != 4 || got.ContentType != "application/json" || got.AcceptContentTypes != "a,b" || !got.DisableCompression {
			t.Errorf("--master=%q: %+v", master, got)
		}
	}
	c.Effective.ClientConnection.Kubeconfig = kubeconfig + ".not"
	if _, err := connect(&c.Effective.ClientConnection, ""); err == nil || !strings.Contains(err.Error(), kubeconfig+".not") {
		t.Errorf("no such file: %v", err)
	}
}
