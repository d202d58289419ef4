package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// An entry of the log is a byte with the version that a server must know to apply
// it, the largest of its commands', and then, for each command, its length (unsigned
// varint) and its bytes. An entry without commands does nothing; it shows that
// everything before it is applied.

// firstVersion is what every server knows.
const firstVersion = 1

// Limits of an entry. A follower that is far behind gets several in one message.
const (
	// MaxCommand is the size of the largest command, in bytes.
	MaxCommand = 512 << 10
	// maxEntryBytes and maxEntryCommands end the gathering for one entry. One command
	// of any allowed size always fits.
	maxEntryBytes    = 512 << 10
	maxEntryCommands = 1024
)

func encodeEntry(version uint8, commands [][]byte) []byte {
	size := 1
	for _, c := range commands {
		size += binary.MaxVarintLen32 + len(c)
	}
	b := append(make([]byte, 0, size), version)
	for _, c := range commands {
		b = binary.AppendUvarint(b, uint64(len(c)))
		b = append(b, c...)
	}
	return b
}

// decodeEntry reads what encodeEntry wrote, for a server that knows versions up to
// one. The commands share the entry's memory.
func decodeEntry(b []byte, knows uint8) ([][]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("log entry is empty")
	}
	switch v := b[0]; {
	case v > knows:
		return nil, fmt.Errorf("%w: log entry has version %d, this program knows up to %d", ErrNewer, v, knows)
	case v < firstVersion:
		return nil, fmt.Errorf("log entry has version %d", v)
	}
	var commands [][]byte
	for b = b[1:]; len(b) > 0; {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > MaxCommand || n > uint64(len(b)-w) {
			return nil, fmt.Errorf("log entry: command %d has a wrong length", len(commands))
		}
		if len(commands) == maxEntryCommands {
			return nil, fmt.Errorf("log entry has more than %d commands", maxEntryCommands)
		}
		end := w + int(n)
		commands = append(commands, b[w:end:end])
		b = b[end:]
	}
	return commands, nil
}
