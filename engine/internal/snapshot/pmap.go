package snapshot

// pmap is a persistent map with strings as keys and values of one type: a [trie], for which
// there is code once and not for each type. Every package that imports the engine compiles what
// has type parameters and can be reached from the engine's types. V is no interface: no value is nil.
//
// each is in no order that anybody may depend on.
type pmap[V any] struct {
	trie trie
}

func (m *pmap[V]) get(key string) (V, bool) {
	if m.trie.root == nil { // above all the nominations, which are asked for at every node
		var none V
		return none, false
	}
	value, ok := m.trie.lookup(hashOf(key), key).(V)
	return value, ok
}

// each calls f for every key.
func (m *pmap[V]) each(f func(key string, value V)) {
	m.trie.each(func(key string, value any) { f(key, value.(V)) })
}

// set puts the value under the key, on behalf of the owner of the token.
func (m *pmap[V]) set(tok *token, key string, value V) {
	m.trie.insert(tok, trieItem{hash: hashOf(key), key: key, value: value})
}

// unset removes the key, on behalf of the owner of the token.
func (m *pmap[V]) unset(tok *token, key string) { m.trie.remove(tok, hashOf(key), key) }
