//! What does a round trip to a TCP server on this machine cost, depending on the size of the message?
//!
//! The server echoes what it gets, in a task of the same single-threaded runtime, so a round trip is four system calls and two
//! wake-ups of tasks, and no other thread has to be woken. The connection is made once for each size, before anything is
//! measured: `runtime` names what runs the future of each call.

use std::sync::LazyLock;

use nanobench::nanobench;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_io().build().expect("a runtime can be made"));

/// The client's end. It is the same in all calls, one after the other.
static CONNECTION: LazyLock<Mutex<TcpStream>> = LazyLock::new(|| {
    RUNTIME.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        RUNTIME.spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("the client connects");
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                stream.write_all(&buffer[..length]).await.expect("the client still listens");
            }
        });
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a socket has this option");
        Mutex::new(stream)
    })
});

/// The runtime, after the connection has been made.
fn connected() -> &'static Runtime {
    LazyLock::force(&CONNECTION);
    &RUNTIME
}

#[nanobench(args = [16, 1_024, 16_384], runtime = connected(), bytes = |length| *length)]
async fn round_trip(length: usize) -> usize {
    let mut buffer = [1; 16_384];
    let message = &mut buffer[..length];
    let mut stream = CONNECTION.lock().await;
    stream.write_all(message).await.expect("the server still listens");
    stream.read_exact(message).await.expect("the server echoes all of it")
}

nanobench::main!();
