//! The same server and client under one runtime after another.
#![cfg(all(unix, feature = "timer"))]

mod common;

use async_executor::{Executor, LocalExecutor};
use async_io::Async;
use barewire_async::{
    Client, Connect, IoTimer, NoTimer, Serve, Sleep, ToolCall,
    barewire::{ClientConfig, Progress, owned::ToolResult},
    connect, serve,
};
use common::{CONFIG, Outcome, port, tools};
use futures_lite::future::{block_on, yield_now, zip};
use std::{
    cell::Cell,
    net::{TcpListener, TcpStream},
    os::unix::net::UnixStream,
    rc::Rc,
    sync::{Arc, Mutex},
    thread,
};
use tokio_util::compat::TokioAsyncReadCompatExt;

static CLIENT: ClientConfig<'static> = ClientConfig::new("test", "1");

/// 50 calls, one after the other, each with its own answer.
async fn fifty(client: Client, who: usize) {
    for i in 0..50 {
        let result = client.call("echo", format!(r#"{{"text":"{who}.{i}"}}"#)).await.unwrap();
        assert_eq!(result.text(), format!("{who}.{i}"));
    }
}

#[test]
fn futures_lite_alone_with_a_channel_of_its_own() {
    let (here, there) = port::pair();
    let (client, driver) = connect(here, &CLIENT, NoTimer);
    let server = serve(there, &CONFIG, NoTimer, tools);
    let talk = async move {
        zip(fifty(client.clone(), 1), fifty(client.clone(), 2)).await;
        assert_eq!(client.call("big", "{}").await.unwrap().text().len(), 4 << 20);
    };
    let ((driven, served), ()) = block_on(zip(zip(driver, server), talk));
    driven.unwrap();
    served.unwrap();
}

#[test]
fn a_channel_between_two_threads() {
    let (here, there) = port::pair();
    let server = thread::spawn(move || block_on(serve(there, &CONFIG, NoTimer, tools)));
    let (client, driver) = connect(here, &CLIENT, NoTimer);
    let driver = thread::spawn(move || block_on(driver));
    let callers: Vec<_> = (0..4)
        .map(|who| {
            let client = client.clone();
            thread::spawn(move || block_on(fifty(client, who)))
        })
        .collect();
    drop(client);
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    driver.join().unwrap().unwrap();
    server.join().unwrap().unwrap();
}

#[test]
fn async_io_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();
    let (client, driver) = connect(Async::new(here).unwrap(), &CLIENT, IoTimer);
    let server = serve(Async::new(there).unwrap(), &CONFIG, IoTimer, tools);
    let ((driven, served), ()) = async_io::block_on(zip(zip(driver, server), fifty(client, 0)));
    driven.unwrap();
    served.unwrap();
}

#[test]
fn an_executor_of_many_threads() {
    let (here, there) = UnixStream::pair().unwrap();
    let executor = Arc::new(Executor::new());
    let (stop, stopped) = async_channel::bounded::<()>(1);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (executor, stopped) = (Arc::clone(&executor), stopped.clone());
            thread::spawn(move || async_io::block_on(executor.run(stopped.recv())))
        })
        .collect();
    let (client, driver) = connect(Async::new(here).unwrap(), &CLIENT, IoTimer);
    let driver = executor.spawn(driver);
    // Handlers that run as tasks of their own, wherever there is a thread.
    let spawner = Arc::clone(&executor);
    let handler = move |call: ToolCall| spawner.spawn(tools(call));
    let server = executor.spawn(serve(Async::new(there).unwrap(), &CONFIG, IoTimer, handler));
    let callers: Vec<_> = (0..16).map(|who| executor.spawn(fifty(client.clone(), who))).collect();
    drop(client);
    block_on(async {
        for caller in callers {
            caller.await;
        }
        driver.await.unwrap();
        server.await.unwrap();
    });
    stop.close();
    threads.into_iter().for_each(|thread| assert!(thread.join().unwrap().is_err()));
}

#[test]
fn handlers_that_are_not_send_on_a_local_executor() {
    let (here, there) = UnixStream::pair().unwrap();
    let executor = LocalExecutor::new();
    let count = Rc::new(Cell::new(0));
    let handler = {
        let count = Rc::clone(&count);
        move |_: ToolCall| {
            let count = Rc::clone(&count);
            async move {
                let before = count.get();
                yield_now().await;
                count.set(count.get().max(before + 1));
                Ok(ToolResult::text(Rc::new(count.get()).to_string()))
            }
        }
    };
    let server = executor.spawn(serve(Async::new(there).unwrap(), &CONFIG, IoTimer, handler));
    let seen = Rc::new(Cell::new(0));
    let watched = Rc::clone(&seen);
    let connect = Connect::new(&CLIENT, IoTimer).trace(move |_| watched.set(watched.get() + 1));
    let (client, driver) = connect.over(Async::new(here).unwrap());
    let driver = executor.spawn(driver);
    async_io::block_on(executor.run(async {
        for n in 1..10 {
            assert_eq!(client.call("echo", "{}").await.unwrap().text(), n.to_string());
        }
        drop(client);
        driver.await.unwrap();
        server.await.unwrap();
    }));
    assert_eq!(count.get(), 9);
    assert!(seen.get() >= 20);
}

async fn under_tokio() {
    let (here, there) = tokio::net::UnixStream::pair().unwrap();
    let timer = || Sleep::with(tokio::time::sleep);
    let (client, driver) = connect(here.compat(), &CLIENT, timer());
    let driver = tokio::spawn(driver);
    let server = tokio::spawn(serve(there.compat(), &CONFIG, timer(), |call: ToolCall| async move {
        tokio::time::sleep(core::time::Duration::from_micros(10)).await;
        tools(call).await
    }));
    let callers: Vec<_> = (0..8).map(|who| tokio::spawn(fifty(client.clone(), who))).collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let late = client.call("wait", "{}").timeout(core::time::Duration::from_millis(20));
    late.await.unwrap_err();
    drop(client);
    driver.await.unwrap().unwrap();
    server.await.unwrap().unwrap();
}

#[test]
fn tokio_in_one_thread() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(under_tokio());
}

#[test]
fn tokio_in_many_threads() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(4).enable_all().build().unwrap().block_on(under_tokio());
}

#[test]
fn tokio_over_tcp() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (there, _) = listener.accept().await.unwrap();
        let timer = Sleep::with(tokio::time::sleep);
        let (client, driver) = connect(here.compat(), &CLIENT, timer);
        let server = serve(there.compat(), &CONFIG, timer, tools);
        let ((driven, served), ()) = zip(zip(driver, server), fifty(client, 0)).await;
        driven.unwrap();
        served.unwrap();
    });
}

/// Both ends of every driver can be spawned if what they are given can, and are welcome if it can't.
#[test]
fn a_driver_is_send_if_its_parts_are() {
    fn send<T: Send + 'static>(_: &T) {}
    let (here, there) = port::pair();
    let (client, driver) = connect(here, &CLIENT, IoTimer);
    send(&driver);
    send(&client.close());
    send(&client.server());
    let told = Arc::new(Mutex::new(0.0));
    send(&client.list_tools().on_progress(move |p| *told.lock().unwrap() += p.done));
    let handler = async |call: ToolCall| -> Outcome {
        call.progress(Progress { done: 1, total: None, message: None });
        Ok("".into())
    };
    send(&Serve::new(&CONFIG, IoTimer).concurrent(2).run(there, handler));
}
