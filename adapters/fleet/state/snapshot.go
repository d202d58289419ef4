package state

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-memdb"
)

// Picture is the state at one moment, to be written while it goes on.
type Picture struct {
	view View
}

// Snapshot returns a picture of the state as it is now.
func (s *State) Snapshot() *Picture { return &Picture{view: s.View()} }

// Release gives up the picture.
func (p *Picture) Release() {}

// line is one line of a picture: a table's name and a row of it.
type line struct {
	Table string          `json:"t"`
	Row   json.RawMessage `json:"r"`
}

// header is the first line. It has the version of the state.
type header struct {
	Berth int `json:"berthState"`
}

// trailer is the last line, without which a picture is not whole.
type trailer struct {
	Rows int `json:"rows"`
}

// WriteTo writes the picture: a line of JSON for each row.
func (p *Picture) WriteTo(w io.Writer) (int64, error) {
	count := &counter{w: w}
	buffered := bufio.NewWriterSize(count, 1<<16)
	enc := json.NewEncoder(buffered)
	if err := enc.Encode(header{Berth: p.view.Version()}); err != nil {
		return count.n, err
	}
	rows := 0
	for _, write := range writers {
		n, err := write(p.view.txn, enc)
		if err != nil {
			return count.n, err
		}
		rows += n
	}
	if err := enc.Encode(line{Table: "end", Row: mustJSON(trailer{Rows: rows})}); err != nil {
		return count.n, err
	}
	err := buffered.Flush()
	return count.n, err
}

// writers write the tables, readers read a row of each.
var (
	writers = []func(*memdb.Txn, *json.Encoder) (int, error){
		metas.write, queues.write, accounts.write, users.write, limits.write, reservations.write, tokens.write, revoked.write, nodes.write, used.write, jobs.write, chunks.write, elements.write,
		tasks.write, keys.write, totals.write, records.write,
	}
	readers = map[string]func(*memdb.Txn, []byte) error{
		"meta": metas.read, "queues": queues.read, "tokens": tokens.read, "nodes": nodes.read, "used": used.read,
		"jobs": jobs.read, "chunks": chunks.read, "elements": elements.read, "tasks": tasks.read, "keys": keys.read,
		"totals": totals.read, "revoked": revoked.read, "reservations": reservations.read, "accounts": accounts.read, "users": users.read, "limits": limits.read, "records": records.read,
	}
)

func (t *table[T]) write(txn *memdb.Txn, enc *json.Encoder) (int, error) {
	n := 0
	for row := range t.all(txn, "id", nil) {
		text, err := json.Marshal(row)
		if err != nil {
			return n, fmt.Errorf("write a row of %s: %w", t.name, err)
		}
		if err := enc.Encode(line{Table: t.name, Row: text}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (t *table[T]) read(txn *memdb.Txn, text []byte) error {
	row := new(T)
	if err := json.Unmarshal(text, row); err != nil {
		return fmt.Errorf("read a row of %s: %w", t.name, err)
	}
	if j, ok := any(row).(*Job); ok && j.Spec == nil {
		return fmt.Errorf("read a row of %s: job %d has no spec", t.name, j.ID)
	}
	t.put(txn, row)
	return nil
}

// ErrPicture says that what was to be restored is no picture of a state, or not a whole
// one.
var ErrPicture = errors.New("not a whole picture of a fleet's state")

// ErrNewer says that a newer program has made the picture.
var ErrNewer = errors.New("it is newer than this program")

// Restore replaces the state by a picture. Where it is not whole the state stays as
// it is. Events are forgotten.
func (s *State) Restore(r io.Reader) error {
	db := newDB()
	txn := db.Txn(true)
	defer txn.Abort()
	if err := readPicture(txn, r); err != nil {
		return fmt.Errorf("restore the state: %w", err)
	}
	addUpHoldings(txn)
	txn.Commit()
	s.mu.Lock()
	s.db = db
	s.mu.Unlock()
	s.events.restart(fmt.Sprintf("%d.0", s.View().Index()))
	s.watch(Changed{All: true})
	return nil
}

func readPicture(txn *memdb.Txn, r io.Reader) error {
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<16))
	var h header
	if err := dec.Decode(&h); err != nil || h.Berth == 0 {
		return ErrPicture
	}
	if h.Berth > Version {
		return fmt.Errorf("%w: it is of version %d, and this program knows up to %d", ErrNewer, h.Berth, Version)
	}
	for rows := 0; ; rows++ {
		var l line
		if err := dec.Decode(&l); err != nil {
			return fmt.Errorf("%w: %w", ErrPicture, err)
		}
		if l.Table == "end" {
			var t trailer
			if err := json.Unmarshal(l.Row, &t); err != nil || t.Rows != rows {
				return ErrPicture
			}
			return View{txn: txn}.sound()
		}
		read := readers[l.Table]
		if read == nil {
			return fmt.Errorf("%w: there is no table %q", ErrPicture, l.Table)
		}
		if err := read(txn, l.Row); err != nil {
			return fmt.Errorf("%w: %w", ErrPicture, err)
		}
	}
}

// mustJSON is for what always can be written.
func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
