package replica

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that meets a command it does not know applies neither that nor what follows. It stops,
// and says why, also when it is started again. The others go on, and with a newer
// program it has all that they have.
func TestServerThatDoesNotKnowACommand(t *testing.T) {
	t.Parallel()
	c := newCluster(t).steady()
	knows := map[string]uint8{"s1": 2, "s2": 2, "s3": 1}
	c.change = func(name string, conf *Config) { conf.Knows = knows[name] }
	c.three()
	c.propose("known")
	before := c.agree()
	leader := c.leader()
	if leader.name == "s3" {
		require.NoError(t, leader.TransferLeadership(t.Context()))
		c.wait("another leads", func() bool { return c.leader() != leader })
	}
	old := c.all()["s3"]
	_, err := c.leader().Propose(t.Context(), 3, []byte("too new"))
	require.EqualError(t, err, "a command of version 3, and this server knows 1 to 2")
	_, err = c.leader().Propose(t.Context(), 2, []byte("new"))
	require.NoError(t, err)
	for range 2 {
		c.propose("later")
		<-old.Done()
		require.ErrorIs(t, old.Err(), ErrNewer)
		require.ErrorContains(t, old.Err(), "has version 2, this program knows up to 1")
		c.stop("s3")
		require.Equal(t, before, old.machine.all())
		old = c.start("s3", false)
	}
	c.stop("s3")
	knows["s3"] = 2
	c.start("s3", false)
	require.Subset(t, c.agree(), []string{"known", "new", "later"})
}

// older is a machine to which all pictures are too new.
type older struct{ *list }

func (older) Restore(io.Reader) error { return fmt.Errorf("restore: %w", ErrNewer) }

func TestServerThatDoesNotKnowAPicture(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.start("s1", true)
	c.propose("something")
	_, err := s.Backup(t.Context(), io.Discard) // takes one
	require.NoError(t, err)
	c.stop("s1")
	_, err = Open(Config{ID: "s1", Address: "s1", Dir: filepath.Join(c.dir, "s1"), Machine: older{&list{}}, Keeper: c.keeper("s1")})
	require.EqualError(t, err, "replica: restore: "+ErrNewer.Error())
}
