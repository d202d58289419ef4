package enginetest
import ("testing";"fmt";"os";"strconv")
func TestZZ(t *testing.T){
 seed,_:=strconv.ParseUint(os.Getenv("S"),10,64)
 o:=SimOptions{Record:true}
 r:=simulate(seed,o)
 if r.Failure!=nil { r,_=shrink(r,o) }
 if r.Failure!=nil{ fmt.Println(r.Failure.Step,r.Failure.Message); for _,l:=range r.Failure.Last{fmt.Println(l)} }
 if len(r.Lives)>0 { ev:=r.Lives[len(r.Lives)-1].Events; for _,e:=range ev{fmt.Println(e)} }
}
func TestSoak(t *testing.T){
 n,_:=strconv.Atoi(os.Getenv("N")); if n==0 {t.Skip()}
 first,_:=strconv.ParseUint(os.Getenv("S"),10,64)
 seen:=map[string]int{}
 for i:=range uint64(n) { r:=simulate(first+i,SimOptions{}); if f:=r.Failure; f!=nil { k:=f.Message; if len(k)>40{k=k[len(k)-40:]}; seen[k]++; if seen[k]<4 {m:=f.Message; if len(m)>400{m=m[:400]}; fmt.Println(first+i,f.Step,m)} } }
}
