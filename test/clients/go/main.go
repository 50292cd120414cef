// What controllers and operators do with client-go, against the server of a kubeconfig: clients KUBECONFIG NAMESPACE.
// Prints a line for each part that works; ends with 1 at the first that does not.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/watch"
	"k8s.io/client-go/util/retry"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

type world struct {
	ctx       context.Context
	config    *rest.Config
	client    *kubernetes.Clientset
	namespace string
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 270*time.Second)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must("kubeconfig", err)
	config.QPS, config.Burst = 200, 400
	parts := []struct {
		name string
		run  func(world) error
	}{
		{"typed", typed}, {"paging", paging}, {"informer", informer}, {"watchlist", watchList},
		{"dynamic", dynamicInformer}, {"metadata", metadataInformer}, {"apply", apply}, {"events", events},
		{"election", election}, {"mapper", mapper}, {"watch", until},
	}
	for _, content := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		config := rest.CopyConfig(config)
		config.ContentType = content
		client, err := kubernetes.NewForConfig(config)
		must("client", err)
		for i, part := range parts {
			w := world{ctx, config, client, fmt.Sprintf("%s-%d-%d", os.Args[2], len(content), i)}
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
			_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
			must("namespace", err)
			must(part.name+" "+content, part.run(w))
			must("cleanup", client.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{}))
		}
	}
}

func must(what string, err error) {
	if err != nil {
		fmt.Printf("FAIL %s: %v\n", what, err)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", what)
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "go"}}, Data: map[string]string{"n": "1"}}
}

func typed(w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(w.ctx, configMap("a"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := maps.Create(w.ctx, configMap("a"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("a second create: %w", err)
	}
	made.Data["n"] = "2"
	if _, err := maps.Update(w.ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Update(w.ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("a stale update: %w", err)
	}
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live, err := maps.Get(w.ctx, "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		live.Data["n"] = "3"
		_, err = maps.Update(w.ctx, live, metav1.UpdateOptions{})
		return err
	}); err != nil {
		return err
	}
	patched, err := maps.Patch(w.ctx, "a", types.StrategicMergePatchType, []byte(`{"data":{"m":"1"}}`), metav1.PatchOptions{})
	if err != nil || patched.Data["m"] != "1" || patched.Data["n"] != "3" {
		return fmt.Errorf("patch: %v %w", patched, err)
	}
	uid := patched.UID + "x"
	if err := maps.Delete(w.ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); !apierrors.IsConflict(err) {
		return fmt.Errorf("delete of another uid: %w", err)
	}
	if err := maps.DeleteCollection(w.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=go"}); err != nil {
		return err
	}
	if _, err := maps.Get(w.ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("get after delete: %w", err)
	}
	return nil
}

func fill(w world, n int) error {
	for i := 0; i < n; i++ {
		if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(w.ctx, configMap(fmt.Sprintf("m%02d", i)), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func paging(w world) error {
	if err := fill(w, 25); err != nil {
		return err
	}
	pages, seen := 0, 0
	p := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		pages++
		return w.client.CoreV1().ConfigMaps(w.namespace).List(ctx, options)
	})
	p.PageSize = 10
	err := p.EachListItem(w.ctx, metav1.ListOptions{LabelSelector: "app=go"}, func(runtime.Object) error { seen++; return nil })
	if err != nil || seen != 25 || pages != 3 {
		return fmt.Errorf("%d items in %d pages: %w", seen, pages, err)
	}
	return nil
}

// follow makes, changes and deletes while an informer looks on, and waits until it has seen all of it.
func follow(w world, handle func(cache.ResourceEventHandler) (cache.InformerSynced, error)) error {
	var adds, updates, deletes atomic.Int32
	synced, err := handle(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { adds.Add(1) },
		UpdateFunc: func(old, now any) {
			a, _ := meta.Accessor(old)
			b, _ := meta.Accessor(now)
			if a.GetResourceVersion() != b.GetResourceVersion() {
				updates.Add(1)
			}
		},
		DeleteFunc: func(any) { deletes.Add(1) },
	})
	if err != nil {
		return err
	}
	if !cache.WaitForCacheSync(w.ctx.Done(), synced) {
		return errors.New("the cache did not fill")
	}
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	if _, err := maps.Create(w.ctx, configMap("late"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Patch(w.ctx, "late", types.MergePatchType, []byte(`{"data":{"n":"2"}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(w.ctx, "late", metav1.DeleteOptions{}); err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(w.ctx, 20*time.Millisecond, 60*time.Second, true, func(context.Context) (bool, error) {
		return adds.Load() == 4 && updates.Load() == 1 && deletes.Load() == 1, nil
	})
	if err != nil {
		return fmt.Errorf("%d added, %d updated, %d deleted: %w", adds.Load(), updates.Load(), deletes.Load(), err)
	}
	return nil
}

var selected = func(options *metav1.ListOptions) { options.LabelSelector = "app=go" }

func informer(w world) error {
	if err := fill(w, 3); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(w.client, 0, informers.WithNamespace(w.namespace), informers.WithTweakListOptions(selected))
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	return follow(w, func(handler cache.ResourceEventHandler) (cache.InformerSynced, error) {
		maps := factory.Core().V1().ConfigMaps().Informer()
		_, err := maps.AddEventHandler(handler)
		factory.Start(ctx.Done())
		return maps.HasSynced, err
	})
}

// watchList is what informers of client-go 0.36 do by themselves: no list, a watch that begins with what is there.
func watchList(w world) error {
	if err := fill(w, 5); err != nil {
		return err
	}
	yes := true
	stream, err := w.client.CoreV1().ConfigMaps(w.namespace).Watch(w.ctx, metav1.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, LabelSelector: "app=go",
	})
	if err != nil {
		return err
	}
	defer stream.Stop()
	added := 0
	for event := range stream.ResultChan() {
		switch event.Type {
		case apiwatch.Added:
			added++
		case apiwatch.Bookmark:
			object, err := meta.Accessor(event.Object)
			if err != nil {
				return err
			}
			if object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" && added == 5 && object.GetResourceVersion() != "" {
				return nil
			}
			return fmt.Errorf("a bookmark after %d: %v", added, object)
		default:
			return fmt.Errorf("%s: %v", event.Type, event.Object)
		}
	}
	return fmt.Errorf("the watch ended after %d", added)
}

func dynamicInformer(w world) error {
	if err := fill(w, 3); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	return follow(w, func(handler cache.ResourceEventHandler) (cache.InformerSynced, error) {
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, w.namespace, selected)
		maps := factory.ForResource(configMaps).Informer()
		_, err := maps.AddEventHandler(handler)
		factory.Start(ctx.Done())
		return maps.HasSynced, err
	})
}

func metadataInformer(w world) error {
	if err := fill(w, 3); err != nil {
		return err
	}
	client, err := metadata.NewForConfig(w.config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	err = follow(w, func(handler cache.ResourceEventHandler) (cache.InformerSynced, error) {
		factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, w.namespace, selected)
		maps := factory.ForResource(configMaps).Informer()
		_, err := maps.AddEventHandler(handler)
		factory.Start(ctx.Done())
		return maps.HasSynced, err
	})
	if err != nil {
		return err
	}
	one, err := client.Resource(configMaps).Namespace(w.namespace).Get(w.ctx, "m00", metav1.GetOptions{})
	if err != nil || one.Labels["app"] != "go" {
		return fmt.Errorf("%v: %w", one, err)
	}
	return nil
}

func apply(w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	a := applycorev1.ConfigMap("shared", w.namespace).WithData(map[string]string{"k": "a"})
	if _, err := maps.Apply(w.ctx, a, metav1.ApplyOptions{FieldManager: "a"}); err != nil {
		return err
	}
	b := applycorev1.ConfigMap("shared", w.namespace).WithData(map[string]string{"k": "b", "own": "b"})
	if _, err := maps.Apply(w.ctx, b, metav1.ApplyOptions{FieldManager: "b"}); !apierrors.IsConflict(err) {
		return fmt.Errorf("a conflict: %w", err)
	}
	if _, err := maps.Apply(w.ctx, b, metav1.ApplyOptions{FieldManager: "b", Force: true}); err != nil {
		return err
	}
	live, err := maps.Get(w.ctx, "shared", metav1.GetOptions{})
	if err != nil {
		return err
	}
	extracted, err := applycorev1.ExtractConfigMap(live, "b")
	if err != nil || extracted.Data["own"] != "b" || extracted.Data["k"] != "b" {
		return fmt.Errorf("extracted %v: %w", extracted, err)
	}
	dropped := applycorev1.ConfigMap("shared", w.namespace).WithData(map[string]string{"k": "b"})
	after, err := maps.Apply(w.ctx, dropped, metav1.ApplyOptions{FieldManager: "b"})
	if err != nil || len(after.Data) != 1 {
		return fmt.Errorf("after dropping a field %v: %w", after, err)
	}
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "loose"}, "data": map[string]any{"x": "y"},
	}}
	_, err = client.Resource(configMaps).Namespace(w.namespace).Apply(w.ctx, "loose", object, metav1.ApplyOptions{FieldManager: "c"})
	return err
}

func events(w world) error {
	about, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(w.ctx, configMap("about"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	about.APIVersion, about.Kind = "v1", "ConfigMap"
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedSink{w})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "go"})
	for i := 0; i < 3; i++ {
		recorder.Event(about, corev1.EventTypeNormal, "Seen", "again and again")
	}
	return wait.PollUntilContextTimeout(w.ctx, 50*time.Millisecond, 60*time.Second, true, func(context.Context) (bool, error) {
		core, err := w.client.CoreV1().Events(w.namespace).List(w.ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(about.UID) + ",reason=Seen"})
		if err != nil || len(core.Items) != 1 || core.Items[0].Count != 3 {
			return false, err
		}
		newer, err := w.client.EventsV1().Events(w.namespace).Get(w.ctx, core.Items[0].Name, metav1.GetOptions{})
		return err == nil && newer.Note == "again and again" && newer.Regarding.Name == "about", err
	})
}

type typedSink struct{ w world }

func (s *typedSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return s.w.client.CoreV1().Events(event.Namespace).CreateWithEventNamespaceWithContext(s.w.ctx, event)
}

func (s *typedSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return s.w.client.CoreV1().Events(event.Namespace).UpdateWithEventNamespaceWithContext(s.w.ctx, event)
}

func (s *typedSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return s.w.client.CoreV1().Events(event.Namespace).PatchWithEventNamespaceWithContext(s.w.ctx, event, data)
}

func election(w world) error {
	lock := func(id string) resourcelock.Interface {
		return &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Name: "turn", Namespace: w.namespace}, Client: w.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: id},
		}
	}
	leading := make(chan string, 2)
	run := func(ctx context.Context, id string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock(id), LeaseDuration: 2 * time.Second, RenewDeadline: 1500 * time.Millisecond, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leading <- id }, OnStoppedLeading: func() {}},
		})
	}
	first, stop := context.WithCancel(w.ctx)
	second, end := context.WithCancel(w.ctx)
	defer end()
	go run(first, "one")
	if who, err := receive(leading); err != nil || who != "one" {
		stop()
		return fmt.Errorf("first leader %q: %w", who, err)
	}
	go run(second, "two")
	time.Sleep(500 * time.Millisecond)
	stop()
	if who, err := receive(leading); err != nil || who != "two" {
		return fmt.Errorf("second leader %q: %w", who, err)
	}
	return nil
}

func receive(from chan string) (string, error) {
	select {
	case got := <-from:
		return got, nil
	case <-time.After(60 * time.Second):
		return "", errors.New("nobody leads")
	}
}

func mapper(w world) error {
	m := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.client.Discovery()))
	mapping, err := m.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil || mapping.Resource.Resource != "deployments" || mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return fmt.Errorf("%v: %w", mapping, err)
	}
	_, err = w.client.Discovery().ServerVersion()
	return err
}

func until(w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(w.ctx, configMap("waited"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	go func() {
		time.Sleep(200 * time.Millisecond)
		_, _ = maps.Patch(w.ctx, "waited", types.MergePatchType, []byte(`{"data":{"n":"9"}}`), metav1.PatchOptions{})
	}()
	source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
		options.FieldSelector = "metadata.name=waited"
		return maps.Watch(ctx, options)
	}}
	ctx, cancel := context.WithTimeout(w.ctx, 60*time.Second)
	defer cancel()
	_, err = watch.Until(ctx, made.ResourceVersion, source, func(event apiwatch.Event) (bool, error) {
		object, ok := event.Object.(*corev1.ConfigMap)
		return ok && object.Data["n"] == "9", nil
	})
	return err
}
