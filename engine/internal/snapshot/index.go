package snapshot

import "github.com/berth-project/berth/extpoints"

// Index is not built yet.
func (v *View) Index() extpoints.Index { panic("not built") }
